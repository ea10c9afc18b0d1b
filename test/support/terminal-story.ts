import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TerminalScreen } from "./terminal.ts";

export const STORY_AGENT = `name: helper
instructions: Work.
tools: [Bash, Write, Edit, Read, Glob, AskUserQuestion, Agent]
subagents:
  reviewer: { description: Reviews, instructions: Review., tools: [Read] }
commands:
  check: { description: review a file, prompt: "review {{args}} with two subagents" }
`;

/** A chat in rehearsal from its beginning to its end. `shot` is told when there is something to see. */
export async function chatStory(
  screen: TerminalScreen,
  { cwd, width, shot }: { readonly cwd: string; readonly width: number; readonly shot: (name: string) => void },
): Promise<void> {
  const say = (text: string): void => {
    screen.type(text);
    screen.press("Enter");
  };
  await screen.sees("rehearsal");

  say("ask me: tea or coffee?");
  await screen.sees("Other");
  shot("question");
  screen.press("Enter");
  await screen.sees("Send this answer?");
  screen.press("Enter");
  await screen.sees("You answered: tea");

  say("/check notes.txt");
  await screen.sees("> /check notes.txt");
  await screen.sees("Report on clarity");
  await screen.sees("✓ Read");
  shot("subagents");

  say("write tea.txt with milk");
  await screen.sees("Allow this?");
  shot("approval");
  screen.press("Enter");
  await screen.sees("Wrote tea.txt.");
  assert.equal(readFileSync(join(cwd, "tea.txt"), "utf8"), "milk");
  screen.press("C-o");
  await screen.sees("› content: milk");
  screen.press("C-o");
  await screen.sees("details are hidden");
  say("/diff");
  await screen.sees("1 file: 1 added");
  await screen.sees("+milk");
  shot("diff");

  say("/mode yolo");
  await screen.sees("Mode is now yolo");
  say("run sleep 60");
  await screen.sees("Bash sleep 60");
  say("read notes.txt");
  await screen.sees("(queued)");
  shot("queued");
  say("/rewind");
  await screen.sees("Press Esc to interrupt it");
  screen.press("Escape");
  await screen.sees("aborted");
  await screen.sees("Interrupted.");

  say("/fork");
  await screen.sees("a copy of");
  await screen.sees("The queued message stays with session");
  say("write coffee.txt with beans");
  await screen.sees("Wrote coffee.txt.");
  assert.ok(existsSync(join(cwd, "coffee.txt")));
  say("/rewind turn");
  await screen.sees("To undo: /rewind undo");
  assert.ok(!existsSync(join(cwd, "coffee.txt")));
  shot("rewind");

  screen.resize(Math.max(20, Math.floor(width / 2)), 30);
  screen.type("still here");
  await screen.sees("> still here");
  shot("resized");
  screen.press("C-c");
  screen.press("C-c");
  await screen.sees("again");
  screen.press("C-c");
  await screen.sees("exit code 0");
}
