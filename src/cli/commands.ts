import type { Command } from "commander";
import { addAgents } from "./commands/agents.ts";
import { addApply } from "./commands/apply.ts";
import { addApprovals } from "./commands/approvals.ts";
import { addAudit } from "./commands/audit.ts";
import { addAuth } from "./commands/auth.ts";
import { addCassette } from "./commands/cassette.ts";
import { addChat } from "./commands/chat.ts";
import { addDiff } from "./commands/diff.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addExport } from "./commands/export.ts";
import { addGrants } from "./commands/grants.ts";
import { addInit } from "./commands/init.ts";
import { addKeys } from "./commands/keys.ts";
import { addModels } from "./commands/models.ts";
import { addPolicy } from "./commands/policy.ts";
import { addRecord } from "./commands/record.ts";
import { addRewind } from "./commands/rewind.ts";
import { addRun } from "./commands/run.ts";
import { addSchema } from "./commands/schema.ts";
import { addServe } from "./commands/serve.ts";
import { addSessions } from "./commands/sessions.ts";
import { addStore } from "./commands/store.ts";
import { addTrust } from "./commands/trust.ts";
import { addTest } from "./commands/test.ts";
import { addConfig } from "./commands/config.ts";
import { addCompletion } from "./commands/completion.ts";
import { addUsage } from "./commands/usage.ts";
import { addValidate } from "./commands/validate.ts";
import { addWorkspaces } from "./commands/workspaces.ts";
import { requireServed } from "./remote-commands.ts";

type Add = (program: Command) => void;

/** One line per command or group of them, in the order of the help. */
const COMMANDS: readonly (readonly [names: readonly string[], add: Add])[] = [
  [["run"], addRun],
  [["chat"], addChat],
  [["init"], addInit],
  [["validate"], addValidate],
  [["test"], addTest],
  [["cassette"], addCassette],
  [["record"], addRecord],
  [["schema"], addSchema],
  [["serve"], addServe],
  [["sessions"], addSessions],
  [["diff", "checkpoints"], addDiff],
  [["rewind"], addRewind],
  [["apply"], addApply],
  [["export"], addExport],
  [["workspaces"], addWorkspaces],
  [["approvals"], addApprovals],
  [["grants"], addGrants],
  [["agents"], addAgents],
  [["keys"], addKeys],
  [["usage"], addUsage],
  [["models"], addModels],
  [["config", "projects"], addConfig],
  [["trust"], addTrust],
  [["auth"], addAuth],
  [["policy"], addPolicy],
  [["backup", "restore", "prune"], addStore],
  [["audit"], addAudit],
  [["doctor"], addDoctor],
];

/** All commands; but only the one that is asked for, when there is such a one: the others take their time too. */
export function addCommands(program: Command, asked?: string): void {
  const wanted = COMMANDS.filter(([names]) => asked !== undefined && names.includes(asked));
  for (const [, add] of wanted.length > 0 ? wanted : COMMANDS) add(program);
  // It tells of all of them.
  if (wanted.length === 0) addCompletion(program);
  // A command that knows only this machine must not pass for one that was done on the server.
  program.hook("preAction", (_, command) => requireServed(command));
  // Wrong usage is exit code 2, for the program and everything below it.
  forEach(program, (command) => command.exitOverride());
}

function forEach(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEach(child, visit);
}
