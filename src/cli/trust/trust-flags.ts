import { homeDirectory } from "../../config/project/home.ts";
import type { Trusting } from "../../config/load.ts";
import { TrustBook } from "../../config/trust/trust-book.ts";
import type { TrustItem } from "../../config/trust/trust-item.ts";
import { ASSUMED_TRUST, recordedTrust } from "../../config/trust/recorded-trust.ts";
import { usageError } from "../terminal/failure.ts";
import { localPrompts } from "../ask/local-prompts.ts";
import { itemText } from "./trust-view.ts";

export interface TrustFlags {
  readonly trust?: boolean;
}

/**
 * What a command treats as trusted. `--trust` trusts all files as they are, for this process only. Otherwise a person at
 * a terminal is asked about untrusted files, unless `isAsking` is false.
 */
export async function trustingFor({ trust }: TrustFlags, { isAsking = true } = {}): Promise<Trusting> {
  if (trust === true) {
    const { requirePerson } = await import("../terminal/person.ts");
    await requirePerson("--trust");
    return ASSUMED_TRUST;
  }
  const { path } = homeDirectory(process.env);
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && process.stderr.isTTY;
  return isAsking && isTerminal ? { ...recordedTrust(path), ask: (items) => ask(items, path) } : recordedTrust(path);
}

async function ask(items: readonly TrustItem[], home: string): Promise<boolean> {
  const { requirePerson } = await import("../terminal/person.ts");
  await requirePerson("This command");
  const prompts = await localPrompts();
  if (prompts === undefined) return false;
  const book = new TrustBook(home);
  for (const item of items) process.stderr.write(`${await itemText(item, book)}\n`);
  const isNeeded = items.some(({ widens }) => widens.some(({ isRequired }) => isRequired));
  const answer = await prompts.choose(
    items.length === 1 ? "Trust this file?" : `Trust these ${items.length} files?`,
    [
      { value: "trust", label: "Trust", hint: "exactly this content" },
      ...(isNeeded
        ? []
        : [{ value: "without", label: "Continue without", hint: "the listed settings have no effect" } as const]),
      { value: "stop", label: "Stop" },
    ],
    { isFirst: true },
  );
  if (answer === "without") return false;
  if (answer !== "trust") throw usageError("Stopped. Nothing was trusted or started.");
  // Trusts exactly what was shown, even if the files have changed since.
  for (const item of items) book.add(item, byUser("asked at a terminal"), new Date());
  return true;
}

/** Who trusted a file, for the record. */
export function byUser(how: string): string {
  return `${process.getBuiltinModule("node:os").userInfo().username} (${how})`;
}
