import { ORDINARY_1 } from "./commands/ordinary-1.ts";
import { ORDINARY_2 } from "./commands/ordinary-2.ts";
import { ATTEMPTS_1 } from "./commands/attempts-1.ts";
import { ATTEMPTS_2 } from "./commands/attempts-2.ts";
import { ATTEMPTS_3 } from "./commands/attempts-3.ts";
import { ATTEMPTS_4 } from "./commands/attempts-4.ts";
import type { Row } from "./row.ts";

export const ORDINARY: readonly Row[] = [...ORDINARY_1, ...ORDINARY_2];
export const ATTEMPTS: readonly Row[] = [...ATTEMPTS_1, ...ATTEMPTS_2, ...ATTEMPTS_3, ...ATTEMPTS_4];
