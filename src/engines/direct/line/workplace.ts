import type { EngineHost, EngineRequest } from "../../../core/ports/engine.ts";
import type { ModelToAsk } from "../model/names.ts";
import type { Tally } from "../model/tally.ts";
import type { SessionTools } from "../tools/session-tools.ts";
import type { InputChecks } from "./input-checks.ts";

/** What all lines of one session share. */
export interface Workplace {
  readonly request: EngineRequest;
  readonly host: EngineHost;
  readonly session: SessionTools;
  readonly checks: InputChecks;
  readonly tally: Tally;
  /** Of all lines: the runtime tells the open calls of a session apart by them. */
  readonly callIds: Set<string>;
  /** How often a failed model request is repeated. */
  readonly retries: number;
  /** Names of the host's tools that run in a client. */
  readonly customTools: readonly string[];
  /** What has to be asked for by name. */
  readonly betas: (model: ModelToAsk) => readonly string[];
}
