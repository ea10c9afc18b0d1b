import { type Command, Option } from "commander";
import type { ListSessionsFlags, ShowFlags } from "./sessions.ts";
import { declareCommand } from "../declare-command.ts";

export function addSessionsCommand(program: Command): void {
  const sessions = program.command("sessions").description("list, show, export, import and recover sessions");
  declareCommand(sessions, "list", { server: "supported", isDefault: true })
    .description("list sessions, most recently active first")
    .argument("[search]", "text in the title, first message, directory or agent name")
    .option("-n, --limit <n>", "number of sessions", "20")
    .option("-p, --project <dir>", "only this project")
    .addOption(
      new Option("-s, --status <status>", "only with this status").choices([
        "idle",
        "running",
        "rescheduling",
        "terminated",
      ]),
    )
    .option("--agent <name>", "only this agent")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan sessions list --status running")
    .action(async (search: string | undefined, flags: ListSessionsFlags) =>
      (await import("./sessions.ts")).listSessions(search, flags),
    );
  declareCommand(sessions, "show", { server: "supported" })
    .description("show what happened in a session")
    .argument("<id>", "session id, or its first or last characters")
    .option("--follow", "keep showing events until interrupted")
    .option("--output <call>", "print the full saved output of one call (call_id, or its last characters)")
    .option("--stderr", "show only the standard error of the agent's processes")
    .option("--json", "print the events as JSON lines")
    .addHelpText("after", "\nExample:\n  $ capstan sessions show 3f9a11c2 --follow")
    .action(async (id: string, flags: ShowFlags) => {
      process.exitCode = await (await import("./sessions.ts")).showSession(id, flags);
    });
  declareCommand(sessions, "export", { server: "supported" })
    .description("write a session's log to a file for `sessions import`; for its files use `export`")
    .argument("<id>", "session id, or its first or last characters")
    .option("-o, --output <file>", "file to write (default: standard output)")
    .addHelpText("after", "\nExample:\n  $ capstan sessions export 3f9a11c2 -o session.jsonl")
    .action(async (id: string, flags: { output?: string }) =>
      (await import("./session-files.ts")).exportSessionFile(id, flags.output),
    );
  declareCommand(sessions, "import", { server: "refused" })
    .description("import an exported session under a new id")
    .argument("<file>", "file from `sessions export`")
    .option("--trust", "import even if its agent acts on this machine without asking (default: list that and refuse)")
    .addHelpText("after", "\nExample:\n  $ capstan sessions import session.jsonl")
    .action(async (file: string, flags: { trust?: boolean }) =>
      (await import("./session-files.ts")).importFrom(file, flags),
    );
  declareCommand(sessions, "delete", { server: "refused" })
    .description("erase sessions with their workspaces; hashes and a tombstone remain")
    .argument("<id...>", "session ids, or their first or last characters")
    .option("--discard-changes", "delete even if a workspace has unexported changes")
    .addHelpText("after", "\nExample:\n  $ capstan sessions delete 3f9a11c2")
    .action(async (ids: string[], flags: { discardChanges?: boolean }) =>
      (await import("./session-files.ts")).deleteAll(ids, flags),
    );
  declareCommand(sessions, "compact", { server: "supported" })
    .description("replace the model's view of the conversation with a summary")
    .argument("<id>", "session id, or its first or last characters")
    .option("--rehearsal", "use the built-in scripted model")
    .addHelpText("after", "\nExample:\n  $ capstan sessions compact 3f9a11c2")
    .action(async (id: string, flags: { rehearsal?: boolean }) =>
      (await import("./session-work.ts")).compact(id, flags),
    );
  declareCommand(sessions, "recover", { server: "refused" })
    .description("recover sessions whose host died: continue or end their turns")
    .addOption(new Option("--on-crash <policy>", "what to do with an interrupted turn").choices(["continue", "stop"]))
    .option("--rehearsal", "use the built-in scripted model")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan sessions recover --on-crash stop")
    .action(async (flags: { onCrash?: "continue" | "stop"; rehearsal?: boolean; json?: boolean }) => {
      process.exitCode = await (await import("./session-work.ts")).recover(flags);
    });
}
