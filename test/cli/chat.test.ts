import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stable } from "../../scripts/screens-stable.ts";
import { testCli } from "../support/cli.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { terminalScreen } from "../support/terminal.ts";
import { chatStory, STORY_AGENT } from "../support/terminal-story.ts";

test("a whole story: question, subagents, approval, diff, interrupt, fork, rewind, resize", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  writeFileSync(join(cli.cwd, "agent.yaml"), STORY_AGENT);
  using screen = terminalScreen(["chat", "--rehearsal", "agent.yaml"], cli);
  const shots = new Map<string, string>();
  const shot = (name: string): void => {
    shots.set(name, stable(screen.text().replaceAll(cli.cwd, "/home/someone/notes"), cli.home));
  };
  await chatStory(screen, { cwd: cli.cwd, width: 80, shot });
  // The terminal is as it was.
  expect(screen.text()).toMatch(/^icanon$/m);
  // The screens in the documents are those of this program: scripts/screens-chat.ts makes them.
  for (const name of ["question", "diff", "queued", "rewind", "resized"])
    expect(ofAnyEngine(shots.get(name) ?? "")).toBe(
      ofAnyEngine(readFileSync(`docs/screens/chat-${name}-80.txt`, "utf8")),
    );
});

/** Without what an engine says in its own words (its name, how much its prompt takes, a tool's result), and what its name leaves no room for. */
function ofAnyEngine(screen: string): string {
  return (
    screen
      .replaceAll(` on ${TEST_ENGINE}`, "")
      .replaceAll(/\b\d+%/g, "0%")
      // How long a call has been running.
      .replaceAll(/(?<=^. Bash .*) (?:\d+ ms|\d+\.\d s)$/gm, "")
      .replaceAll(/ · session \w+$/gm, "")
      .replaceAll(/│ File created[^)]*\)/g, "│ (the result)")
  );
}
