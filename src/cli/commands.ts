import type { Command } from "commander";
import { addDoctor } from "./commands/doctor.ts";
import { addModels } from "./commands/models.ts";
import { addRun } from "./commands/run.ts";
import { addSessions } from "./commands/sessions.ts";
import { addStore } from "./commands/store.ts";
import { addConfig } from "./commands/config.ts";
import { addCompletion } from "./commands/completion.ts";

/** One line per command, in the order of the help. */
export function addCommands(program: Command): void {
  addRun(program);
  addSessions(program);
  addModels(program);
  addConfig(program);
  addStore(program);
  addDoctor(program);
  addCompletion(program);
  // Wrong usage is exit code 2, for the program and everything below it.
  forEach(program, (command) => command.exitOverride());
}

function forEach(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEach(child, visit);
}
