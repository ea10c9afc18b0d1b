import type { Command } from "commander";
import { refuseOnServer } from "./server.ts";

/** Commands that work against the server which CAPSTAN_URL names, as they do on this machine. */
export const SERVED: ReadonlySet<string> = new Set([
  "run",
  "chat",
  "sessions list",
  "sessions show",
  "sessions export",
  "sessions compact",
  "approvals list",
  "approvals show",
  "approvals answer",
  "approvals wait",
  "grants list",
  "grants show",
  "grants revoke",
  "agents create",
  "agents list",
  "usage",
  "models",
  "diff",
  "checkpoints",
  "rewind",
  "apply",
  "export",
  "policy check",
  "policy replay",
]);

/** Commands that are about this machine, whatever server is chosen, and cannot be taken for anything else. */
export const ABOUT_HERE: ReadonlySet<string> = new Set([
  "init",
  "validate",
  "test",
  "cassette show",
  "cassette diff",
  "cassette prune",
  "schema",
  "serve",
  "doctor",
  "config show",
  "projects",
  "trust add",
  "trust list",
  "trust revoke",
  "completion",
]);

/** Ends a command that knows only the sessions of this machine while a server is chosen. */
export function requireServed(command: Command): void {
  const name = nameOf(command);
  if (SERVED.has(name) || ABOUT_HERE.has(name)) return;
  refuseOnServer(`capstan ${name}`, "Run it on the server's machine, or unset CAPSTAN_URL to work on this one.");
}

function nameOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent != null; one = one.parent) names.unshift(one.name());
  return names.join(" ");
}
