// Captures a chat in a terminal, from its beginning to its end, as text in docs/screens/. Needs tmux. The story is the
// one that test/cli/chat.test.ts tells.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { terminalScreen } from "../test/support/terminal.ts";
import { chatStory, STORY_AGENT } from "../test/support/terminal-story.ts";
import { stable } from "./screens-stable.ts";

const WIDTHS = [80, 20, 200];

const out = resolve(import.meta.dirname, "..", "docs", "screens");
for (const width of WIDTHS) await capture(width);
console.log(`The screens are in ${out}.`);

async function capture(width: number): Promise<void> {
  // As long as what replaces it, so that lines break where they would.
  const place = mkdtempSync(join(tmpdir(), "c-"));
  const cwd = join(place, "notes");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "notes.txt"), "Buy milk.\n");
  writeFileSync(join(cwd, "agent.yaml"), STORY_AGENT);
  const environment = { HOME: place, PATH: process.env["PATH"] ?? "" };
  const options = { cwd, environment, width, height: 40 };
  try {
    using screen = terminalScreen(["chat", "--rehearsal", "agent.yaml"], options);
    const shot = (name: string): void =>
      writeFileSync(join(out, `chat-${name}-${width}.txt`), stable(screen.text(), place));
    await chatStory(screen, { cwd, width, shot });
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
