import { Argument, type Command, Option } from "commander";
import type { ListFlags } from "./approvals.ts";
import type { AnswerFlags } from "./approvals-answer.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addApprovals(program: Command): void {
  const approvals = program
    .command("approvals")
    .description("see what agents ask people, and answer")
    .addHelpText("after", "\nExample:\n  $ capstan approvals answer 3f9a11c2 allow");
  declareCommand(approvals, "list", { server: "supported", isDefault: true })
    .description("list approvals that wait for an answer, oldest first")
    .option("--all", "those that are over as well")
    .option("-s, --session <id>", "only of this session: the id, or its beginning or end")
    .option("-p, --project <dir>", "only of this project")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan approvals list --all")
    .action(async (flags: ListFlags) => (await import("./approvals.ts")).list(flags));
  declareCommand(approvals, "show", { server: "supported" })
    .description("show what would run, unredacted, and how to answer")
    .argument("<id>", "the id, or its beginning or end")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan approvals show 3f9a11c2")
    .action(async (id: string, flags: { json?: boolean }) => (await import("./approvals.ts")).show(id, flags));
  declareCommand(approvals, "answer", { server: "supported" })
    .description("answer, and go on with the session when nobody drives it")
    .argument("<id>", "the id, or its beginning or end")
    .addArgument(new Argument("<answer>", "what you decide").choices(["allow", "deny"]))
    .addOption(
      new Option("--scope <scope>", "how long it is remembered").choices(["once", "session", "project", "always"]),
    )
    .option("--rule <rule>", "a rule to remember in place of the suggested ones; once for each", each)
    .option("--message <text>", "what the agent is told about a denial")
    .option("--input <json>", "run it with this input instead; @file reads a file")
    .option("--result <text>", "what a custom tool returned; @file reads a file")
    .option("--answer <question=answer>", "the answer to a question of the agent; once for each", each)
    .option("--note <question=note>", "a note beside an answer; once for each", each)
    .option("--as <name>", "who answers; your user name without it")
    .option("--no-resume", "only store the answer")
    .option("--rehearsal", "go on with the built-in scripted model")
    .option("--json", "print the approval, then the events, one JSON object per line")
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
    .description("wait until an approval needs an answer, and print it")
    .option("-s, --session <id>", "only of this session: the id, or its beginning or end")
    .option("-p, --project <dir>", "only of this project")
    .option("--timeout <duration>", "give up after this time, such as 10m, with exit code 4")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan approvals wait --timeout 10m")
    .action(async (flags: ListFlags & { timeout?: string }) => {
      process.exitCode = await (await import("./approvals.ts")).wait(flags);
    });
}

function each(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}
