import { afterAll, beforeAll, expect, test } from "vitest";
import { listen, type Listening } from "../../src/server/listen.ts";
import { type People, people } from "../support/api-people.ts";
import { type Cli, testCli } from "../support/cli.ts";
import { order } from "../support/obedient-model.ts";
import { type TerminalScreen, terminalScreen } from "../support/terminal.ts";

let all: People;
let listening: Listening;
let cli: Cli;

beforeAll(async () => {
  all = await people();
  listening = await listen(all.api.app, { host: "127.0.0.1", port: 0 });
  cli = testCli();
});
afterAll(async () => {
  await listening.close();
  await all.api[Symbol.asyncDispose]();
  cli[Symbol.dispose]();
});

const chat = (...args: readonly string[]): TerminalScreen => {
  const url = `http://127.0.0.1:${listening.port}`;
  const environment = { ...cli.environment, CAPSTAN_KEY: all.operator.key };
  return terminalScreen(["chat", "--attach", url, ...args], { ...cli, environment });
};

test("two people chat on one session of a server, which goes away and comes back", async () => {
  using first = chat();
  await first.sees("or /help for commands");
  first.type("hello");
  first.press("Enter");
  await first.sees("> hello ok");
  const [{ id } = { id: "" }] = (await all.viewer.get("/api/sessions?limit=1")).body.data as { id: string }[];
  using second = chat("--resume", id);
  await second.sees("> hello ok");

  // What one is asked the other may answer.
  first.type(order(["Bash", { command: "echo shared" }]));
  first.press("Enter");
  await Promise.all([first.sees("Allow this?"), second.sees("Allow this?")]);
  second.press("Enter");
  await Promise.all([first.sees("✓ Bash echo shared"), second.sees("✓ Bash echo shared")]);
  await first.sees("in the meantime.)");
  await first.sees("done");

  const { port } = listening;
  await listening.close();
  await Promise.all([first, second].map((screen) => screen.sees("lost. Reconnecting")));
  listening = await listen(all.api.app, { host: "127.0.0.1", port });
  second.type("still there?");
  await second.sees("> still there?");
  await expect.poll(() => second.text(), { timeout: 20_000 }).not.toContain("Reconnecting");
  second.press("Enter");
  await Promise.all([first.sees("> still there? ok"), second.sees("> still there? ok")]);
  first.press("C-d");
  await first.sees(`Session ${id.slice(-8)} is saved.`);
});
