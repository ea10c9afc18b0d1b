import { type Command, Option } from "commander";
import type { ListFlags, ShowFlags } from "./sessions.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addSessions(program: Command): void {
  const sessions = program.command("sessions").description("list, read, move and mend sessions");
  declareCommand(sessions, "list", { server: "supported", isDefault: true })
    .description("list sessions, last active first")
    .argument("[search]", "text in the title, the first message, the directory or the agent's name")
    .option("-n, --limit <n>", "how many", "20")
    .option("-p, --project <dir>", "only of this project")
    .addOption(
      new Option("-s, --status <status>", "only with this status").choices([
        "idle",
        "running",
        "rescheduling",
        "terminated",
      ]),
    )
    .option("--agent <name>", "only of this agent")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan sessions list --status running")
    .action(async (search: string | undefined, flags: ListFlags) =>
      (await import("./sessions.ts")).list(search, flags),
    );
  declareCommand(sessions, "show", { server: "supported" })
    .description("show what happened in a session")
    .argument("<id>", "the id, or its beginning or end")
    .option("--follow", "go on showing what happens until interrupted")
    .option("--output <call>", "print all that is kept of what a call gave: its call_id, or the end of it")
    .option("--stderr", "show only what the agent processes wrote to standard error")
    .option("--json", "print the events, one JSON object per line")
    .addHelpText("after", "\nExample:\n  $ capstan sessions show 3f9a11c2 --follow")
    .action(async (id: string, flags: ShowFlags) => {
      process.exitCode = await (await import("./sessions.ts")).show(id, flags);
    });
  declareCommand(sessions, "export", { server: "supported" })
    .description("write a session's log to a file that `sessions import` reads; its files: export")
    .argument("<id>", "the id, or its beginning or end")
    .option("-o, --output <file>", "where to write; standard output when it is left out")
    .addHelpText("after", "\nExample:\n  $ capstan sessions export 3f9a11c2 -o session.jsonl")
    .action(async (id: string, flags: { output?: string }) =>
      (await import("./session-files.ts")).exportTo(id, flags.output),
    );
  declareCommand(sessions, "import", { server: "refused" })
    .description("read an exported session into this store, under a new id")
    .argument("<file>", "a file made by `sessions export`")
    .option("--trust", "also when its agent acts on this machine without asking; without it that is listed and refused")
    .addHelpText("after", "\nExample:\n  $ capstan sessions import session.jsonl")
    .action(async (file: string, flags: { trust?: boolean }) =>
      (await import("./session-files.ts")).importFrom(file, flags),
    );
  declareCommand(sessions, "delete", { server: "refused" })
    .description("erase what was said and done in a session, and its workspace; hashes and a tombstone stay")
    .argument("<id...>", "ids, or their beginnings or ends")
    .option("--discard-changes", "also when its workspace has changes that were not exported")
    .addHelpText("after", "\nExample:\n  $ capstan sessions delete 3f9a11c2")
    .action(async (ids: string[], flags: { discardChanges?: boolean }) =>
      (await import("./session-files.ts")).deleteAll(ids, flags),
    );
  declareCommand(sessions, "compact", { server: "supported" })
    .description("let the model go on from a summary of what was said")
    .argument("<id>", "the id, or its beginning or end")
    .option("--rehearsal", "use the built-in scripted model")
    .addHelpText("after", "\nExample:\n  $ capstan sessions compact 3f9a11c2")
    .action(async (id: string, flags: { rehearsal?: boolean }) =>
      (await import("./session-work.ts")).compact(id, flags),
    );
  declareCommand(sessions, "recover", { server: "refused" })
    .description("settle sessions whose host died, and go on with their turns or end them")
    .addOption(
      new Option("--on-crash <policy>", "what becomes of a turn that was cut off").choices(["continue", "stop"]),
    )
    .option("--rehearsal", "use the built-in scripted model")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan sessions recover --on-crash stop")
    .action(async (flags: { onCrash?: "continue" | "stop"; rehearsal?: boolean; json?: boolean }) => {
      process.exitCode = await (await import("./session-work.ts")).recover(flags);
    });
}
