import type { Command } from "commander";
import { addAgentsCommand } from "./agents/agents-command.ts";
import { addApplyCommand } from "./workspace/apply-command.ts";
import { addApprovalsCommand } from "./approvals/approvals-command.ts";
import { addAuditCommand } from "./sessions/audit-command.ts";
import { addAuthCommand } from "./setup/auth-command.ts";
import { addCassetteCommand } from "./test/cassette-command.ts";
import { addChatCommand } from "./chat/chat-command.ts";
import { addDiffCommand } from "./workspace/diff-command.ts";
import { addDoctorCommand } from "./setup/doctor-command.ts";
import { addExportCommand } from "./workspace/export-command.ts";
import { addGrantsCommand } from "./approvals/grants-command.ts";
import { addInitCommand } from "./init/init-command.ts";
import { addKeysCommand } from "./serve/keys-command.ts";
import { addModelsCommand } from "./setup/models-command.ts";
import { addPolicyCommand } from "./approvals/policy-command.ts";
import { addRecordCommand } from "./test/record-command.ts";
import { addRewindCommand } from "./workspace/rewind-command.ts";
import { addRunCommand } from "./run/run-command.ts";
import { addSchemaCommand } from "./agents/schema-command.ts";
import { addServeCommand } from "./serve/serve-command.ts";
import { addSessionsCommand } from "./sessions/sessions-command.ts";
import { addStoreCommand } from "./sessions/store-command.ts";
import { addTrustCommand } from "./trust/trust-command.ts";
import { addTestCommand } from "./test/test-command.ts";
import { addConfigCommand } from "./setup/config-command.ts";
import { addCompletionCommand } from "./setup/completion-command.ts";
import { addUsageCommand } from "./sessions/usage-command.ts";
import { addValidateCommand } from "./agents/validate-command.ts";
import { addWorkspacesCommand } from "./workspace/workspaces-command.ts";
import { requireUsableTarget } from "./declare-command.ts";

type Add = (program: Command) => void;

/** One entry per command or group, in the order of the help. */
const COMMANDS: readonly (readonly [names: readonly string[], add: Add])[] = [
  [["run"], addRunCommand],
  [["chat"], addChatCommand],
  [["init"], addInitCommand],
  [["validate"], addValidateCommand],
  [["test"], addTestCommand],
  [["cassette"], addCassetteCommand],
  [["record"], addRecordCommand],
  [["schema"], addSchemaCommand],
  [["serve"], addServeCommand],
  [["sessions"], addSessionsCommand],
  [["diff", "checkpoints"], addDiffCommand],
  [["rewind"], addRewindCommand],
  [["apply"], addApplyCommand],
  [["export"], addExportCommand],
  [["workspaces"], addWorkspacesCommand],
  [["approvals"], addApprovalsCommand],
  [["grants"], addGrantsCommand],
  [["agents"], addAgentsCommand],
  [["keys"], addKeysCommand],
  [["usage"], addUsageCommand],
  [["models"], addModelsCommand],
  [["config", "projects"], addConfigCommand],
  [["trust"], addTrustCommand],
  [["auth"], addAuthCommand],
  [["policy"], addPolicyCommand],
  [["backup", "restore", "prune"], addStoreCommand],
  [["audit"], addAuditCommand],
  [["doctor"], addDoctorCommand],
];

/** Adds only the requested command if it exists, which saves start-up time; otherwise all of them. */
export function addCommands(program: Command, requested?: string): void {
  const wanted = COMMANDS.filter(([names]) => requested !== undefined && names.includes(requested));
  for (const [, add] of wanted.length > 0 ? wanted : COMMANDS) add(program);
  // The completion script covers all commands.
  if (wanted.length === 0) addCompletionCommand(program);
  // A command that works only on this machine must not seem to have run on the server.
  program.hook("preAction", (_, command) => requireUsableTarget(command));
  // Lets main.ts turn usage errors into exit code 2, for every command.
  forEach(program, (command) => command.exitOverride());
}

function forEach(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const child of command.commands) forEach(child, visit);
}
