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
import { addTest } from "./commands/test.ts";
import { addConfig } from "./commands/config.ts";
import { addCompletion } from "./commands/completion.ts";
import { addUsage } from "./commands/usage.ts";
import { addValidate } from "./commands/validate.ts";
import { addWorkspaces } from "./commands/workspaces.ts";
import { requireServed } from "./remote-commands.ts";

/** One line per command, in the order of the help. */
export function addCommands(program: Command): void {
  addRun(program);
  addChat(program);
  addInit(program);
  addValidate(program);
  addTest(program);
  addCassette(program);
  addRecord(program);
  addSchema(program);
  addServe(program);
  addSessions(program);
  addDiff(program);
  addRewind(program);
  addApply(program);
  addExport(program);
  addWorkspaces(program);
  addApprovals(program);
  addGrants(program);
  addAgents(program);
  addKeys(program);
  addUsage(program);
  addModels(program);
  addConfig(program);
  addAuth(program);
  addPolicy(program);
  addStore(program);
  addAudit(program);
  addDoctor(program);
  addCompletion(program);
  // A command that knows only this machine must not pass for one that was done on the server.
  program.hook("preAction", (_, command) => requireServed(command));
  // Wrong usage is exit code 2, for the program and everything below it.
  forEach(program, (command) => command.exitOverride());
}

function forEach(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEach(child, visit);
}
