import type { Command, CommandOptions } from "commander";
import { refuseOnServer } from "./target/server.ts";

/** What a command does while CAPSTAN_URL names a server. */
export type ServerUse =
  /** Works against that server. */
  | "supported"
  /** Concerns only this machine and cannot be mistaken for anything else, so it runs as usual. */
  | "ignored"
  /** Works only with this machine's sessions, so it ends with an error. */
  | "refused";

export interface Declaration extends CommandOptions {
  readonly server: ServerUse;
}

const declared = new WeakMap<Command, ServerUse>();

/** Adds a command that runs something. Groups of commands are added with `parent.command(name)`. */
export function declareCommand(parent: Command, name: string, { server, ...options }: Declaration): Command {
  const command = parent.command(name, options);
  declared.set(command, server);
  return command;
}

/** Undefined for a group of commands. */
export function serverUse(command: Command): ServerUse | undefined {
  return declared.get(command);
}

/** Ends a command that works only with this machine's sessions if a server is chosen. */
export function requireUsableTarget(command: Command): void {
  const use = serverUse(command);
  if (use === "supported" || use === "ignored") return;
  refuseOnServer(
    `capstan ${nameOf(command)}`,
    "Run it on the server's machine, or unset CAPSTAN_URL to work on this machine.",
  );
}

function nameOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one?.parent != null; one = one.parent) names.unshift(one.name());
  return names.join(" ");
}
