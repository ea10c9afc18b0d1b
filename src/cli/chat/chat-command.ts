import type { Command } from "commander";
import type { ChatFlags } from "./run.ts";
import { addSessionOptions } from "../run/session-options.ts";
import { declareCommand } from "../declare-command.ts";

export function addChatCommand(program: Command): void {
  const chat = declareCommand(program, "chat", { server: "supported" })
    .description("chat with an agent")
    .argument("[agent]", "agent file (YAML)");
  addSessionOptions(chat)
    .option("--attach <url>", "chat on this server, like CAPSTAN_URL (key: CAPSTAN_KEY)")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan chat
  $ capstan chat reviewer.yaml --workspace worktree
  $ capstan chat -c
  $ echo "list the files" | capstan chat --rehearsal`,
    )
    .action(async (agent: string | undefined, flags: ChatFlags) => {
      const { runChat } = await import("./run.ts");
      process.exitCode = await runChat(agent, flags);
    });
}
