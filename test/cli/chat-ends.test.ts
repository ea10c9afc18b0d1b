import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cli, testCli } from "../support/cli.ts";
import { call, say, scriptedModel, type ScriptedModel } from "../support/scripted-model.ts";
import { type TerminalScreen, terminalScreen } from "../support/terminal.ts";
import { until } from "../support/until.ts";

/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** How chats end, and what happens when something beneath them does. One session goes through all of it. */
let model: ScriptedModel;
let cli: Cli;
const long = (word: string): string => Array.from({ length: 400 }, (_, index) => `${word}${index}`).join(" ");

beforeAll(async () => {
  model = await scriptedModel(({ last }) => {
    const [, word] = /slowly (\w+)/.exec(last) ?? [];
    if (last.endsWith("make it")) return call("Bash", { command: "echo made > made.txt" });
    return word === undefined ? say("**Yes.**") : say(long(word), { pace: 30 });
  });
  cli = testCli(model.url);
});
afterAll(async () => {
  cli[Symbol.dispose]();
  await model[Symbol.asyncDispose]();
});

const chat = (...args: readonly string[]): TerminalScreen =>
  terminalScreen(["chat", ...args], { ...cli, environment: { ...cli.environment, NO_COLOR: "1" } });

interface Logged {
  readonly type: string;
  readonly pid?: number;
}

async function log(): Promise<readonly Logged[]> {
  const { stdout: sessions } = await cli.run(["sessions", "list", "--json"]);
  const { id = "" } = JSON.parse(sessions.split("\n")[0] || "{}") as { id?: string };
  const { stdout } = await cli.run(["sessions", "show", id, "--json"]);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Logged]));
}

test("a pasted image is sent; without colours code keeps its marks; a terminal that is closed loses nothing", async () => {
  const image = join(cli.cwd, "my photo.png");
  writeFileSync(image, Buffer.from(PIXEL, "base64"));
  using screen = chat();
  await screen.sees("normal · $0");
  screen.paste(`'${image}'`);
  await screen.sees("[image 1: my photo.png]");
  screen.type("what is this?");
  screen.press("Enter");
  await screen.sees("> [image 1: my photo.png] what is this? Yes.");
  const sent = JSON.stringify(model.requests.findLast(({ body }) => (body.tools ?? []).length > 0)?.body.messages);
  expect(sent).toContain('"media_type":"image/png"');
  expect(screen.readPainted()).not.toContain("\u001B[");
  screen.type("now slowly word");
  screen.press("Enter");
  await screen.sees("word9");
  screen.type("half written");
  await screen.sees("> half written");
  const pid = screen.pid();
  screen.close();
  // It ends its turn, and gives the session free.
  await until(
    () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
  const events = (await log()).map(({ type }) => type);
  expect(events.indexOf("user.interrupt")).toBeLessThan(events.lastIndexOf("session.status_idle"));
  expect(events).toContain("user.interrupt");
});

test("--continue takes it up again; a dead agent process is told of; SIGTERM leaves the terminal as it was", async () => {
  using screen = chat("--continue");
  await screen.sees("> now slowly word word0");
  await screen.sees("! Interrupted. The work so far is kept. ───");
  // The engine that has a process of its own.
  screen.type("/engine claude");
  screen.press("Enter");
  await screen.sees("Engine is claude");
  screen.type("slowly term");
  screen.press("Enter");
  await screen.sees("term5 ");
  const pid = (await log()).findLast(({ type }) => type === "capstan.process_started")?.pid;
  assert(pid !== undefined);
  process.kill(pid, "SIGKILL");
  await screen.sees("! The agent process ended unexpectedly");
  await screen.sees("send a message to continue. ───");
  screen.type("are you there?");
  screen.press("Enter");
  await screen.sees("> are you there? Yes.");
  screen.type("make it");
  screen.press("Enter");
  await screen.sees("Allow this?");
  process.kill(screen.pid(), "SIGTERM");
  await screen.sees("Continue with: capstan chat --resume");
  await screen.sees("exit code 130 icanon");
});

test("a question that was open when the chat ended is asked again; what is left for later can be answered", async () => {
  using screen = chat("--continue");
  await screen.sees("Allow this?");
  await screen.sees("Later");
  screen.press(...Array.from({ length: 7 }, () => "Down"), "Enter");
  await screen.sees("waiting for your answer: /answer");
  expect(existsSync(join(cli.cwd, "made.txt"))).toBe(false);
  screen.type("/answer");
  screen.press("Enter");
  await screen.sees("◆ Allow this?");
  screen.press("Enter");
  await screen.sees("✓ Bash echo made");
  await screen.sees("Yes. ───");
  expect(existsSync(join(cli.cwd, "made.txt"))).toBe(true);
  screen.type("please make it");
  screen.press("Enter");
  await screen.sees("◆ Allow this? (Esc to interrupt)");
  await screen.sees("Later");
  screen.press("Escape");
  await screen.sees("└ canceled");
  await screen.sees("! Interrupted. The work so far is kept. ───");
  screen.type("/quit");
  screen.press("Enter");
  await screen.sees("exit code 0 icanon");
});
