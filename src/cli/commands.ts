import type { Command } from "commander";
import { addAgents } from "./agents/agents-command.ts";
import { addApply } from "./workspace/apply-command.ts";
import { addApprovals } from "./approvals/approvals-command.ts";
import { addAudit } from "./sessions/audit-command.ts";
import { addAuth } from "./setup/auth-command.ts";
import { addCassette } from "./test/cassette-command.ts";
import { addChat } from "./chat/chat-command.ts";
import { addDiff } from "./workspace/diff-command.ts";
import { addDoctor } from "./setup/doctor-command.ts";
import { addExport } from "./workspace/export-command.ts";
import { addGrants } from "./approvals/grants-command.ts";
import { addInit } from "./init/init-command.ts";
import { addKeys } from "./serve/keys-command.ts";
import { addModels } from "./setup/models-command.ts";
import { addPolicy } from "./approvals/policy-command.ts";
import { addRecord } from "./test/record-command.ts";
import { addRewind } from "./workspace/rewind-command.ts";
import { addRun } from "./run/run-command.ts";
import { addSchema } from "./agents/schema-command.ts";
import { addServe } from "./serve/serve-command.ts";
import { addSessions } from "./sessions/sessions-command.ts";
import { addStore } from "./sessions/store-command.ts";
import { addTrust } from "./trust/trust-command.ts";
import { addTest } from "./test/test-command.ts";
import { addConfig } from "./setup/config-command.ts";
import { addCompletion } from "./setup/completion-command.ts";
import { addUsage } from "./sessions/usage-command.ts";
import { addValidate } from "./agents/validate-command.ts";
import { addWorkspaces } from "./workspace/workspaces-command.ts";
import { requireUsableTarget } from "./declare-command.ts";

type Add = (program: Command) => void;

/** One entry per command or group, in the order of the help. */
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

/** Adds only the requested command if it exists, which saves start-up time; otherwise all of them. */
export function addCommands(program: Command, requested?: string): void {
  const wanted = COMMANDS.filter(([names]) => requested !== undefined && names.includes(requested));
  for (const [, add] of wanted.length > 0 ? wanted : COMMANDS) add(program);
  // The completion script covers all commands.
  if (wanted.length === 0) addCompletion(program);
  // A command that works only on this machine must not seem to have run on the server.
  program.hook("preAction", (_, command) => requireUsableTarget(command));
  // Lets main.ts turn usage errors into exit code 2, for every command.
  forEach(program, (command) => command.exitOverride());
}

function forEach(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEach(child, visit);
}
