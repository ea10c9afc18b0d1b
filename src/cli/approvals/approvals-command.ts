import { Argument, type Command, Option } from "commander";
import type { ListApprovalsFlags } from "./approvals.ts";
import type { AnswerFlags } from "./approvals-answer.ts";
import { declareCommand } from "../declare-command.ts";

export function addApprovalsCommand(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("list and answer requests from agents")
    .addHelpText("after", "\nExample:\n  $ capstan approvals answer 3f9a11c2 allow");
  declareCommand(approvals, "list", { server: "supported", isDefault: true })
    .description("list pending approvals, oldest first")
    .option("--all", "include closed approvals")
    .option("-s, --session <id>", "only this session (id, or its first or last characters)")
    .option("-p, --project <dir>", "only this project")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan approvals list --all")
    .action(async (flags: ListApprovalsFlags) => (await import("./approvals.ts")).listApprovals(flags));
  declareCommand(approvals, "show", { server: "supported" })
    .description("show what would run, unredacted, and how to answer")
    .argument("<id>", "approval id, or its first or last characters")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan approvals show 3f9a11c2")
    .action(async (id: string, flags: { json?: boolean }) => (await import("./approvals.ts")).showApproval(id, flags));
  declareCommand(approvals, "answer", { server: "supported" })
    .description("answer an approval, and continue the session if no process is running it")
    .argument("<id>", "approval id, or its first or last characters")
    .addArgument(new Argument("<answer>", "your decision").choices(["allow", "deny"]))
    .addOption(
      new Option("--scope <scope>", "how long to remember the answer (default: once)").choices([
        "once",
        "session",
        "project",
        "always",
      ]),
    )
    .option("--rule <rule>", "remember this rule instead of the suggested ones (repeatable)", each)
    .option("--message <text>", "reason for a denial, sent to the agent")
    .option("--input <json>", "run the call with this input instead; @file reads a file")
    .option("--result <text>", "result of a custom tool; @file reads a file")
    .option("--answer <question=answer>", "answer to one of the agent's questions (repeatable)", each)
    .option("--note <question=note>", "note to add to an answer (repeatable)", each)
    .option("--as <name>", "name to record the answer under (default: your user name)")
    .option("--no-resume", "save the answer without continuing the session")
    .option("--rehearsal", "continue with the built-in scripted model")
    .option("--json", "print the approval, then the events, as JSON lines")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan approvals answer 3f9a11c2 allow
  $ capstan approvals answer 3f9a11c2 allow --scope project --rule "Bash(npm test)"
  $ capstan approvals answer 3f9a11c2 deny --message "use the staging server"
  $ capstan approvals answer 3f9a11c2 allow --answer "Tea or coffee?=tea"
  $ capstan approvals answer 3f9a11c2 allow --result "order 4711 was sent"`,
    )
    .action(async (id: string, behavior: "allow" | "deny", flags: AnswerFlags) => {
      process.exitCode = await (await import("./approvals-answer.ts")).answer(id, behavior, flags);
    });
  declareCommand(approvals, "wait", { server: "supported" })
    .description("wait until an approval is pending, and print it")
    .option("-s, --session <id>", "only this session (id, or its first or last characters)")
    .option("-p, --project <dir>", "only this project")
    .option("--timeout <duration>", "stop waiting after this time, such as 10m, with exit code 4")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan approvals wait --timeout 10m")
    .action(async (flags: ListApprovalsFlags & { timeout?: string }) => {
      process.exitCode = await (await import("./approvals.ts")).wait(flags);
    });
}

function each(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}
