import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitOf, testCli } from "../support/cli.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";

const DAY_MS = 86_400_000;

/** An environment in which the CLI's clock is this much behind. */
function clockBehind(ms: number): Record<string, string> {
  const script = `const Real = Date;
    globalThis.Date = class extends Real {
      constructor(...given) { given.length === 0 ? super(Real.now() - ${ms}) : super(...given); }
      static now() { return Real.now() - ${ms}; }
    };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

test("a clock that jumps back by a day between two runs changes neither what is said nor its order", async () => {
  await using model = await scriptedModel((request) => say(`answer ${request.index}`));
  using cli = testCli(model.url);
  await cli.run(["run", "first"]);
  const environment = clockBehind(DAY_MS);
  const second = await cli.run(["run", "-c", "second"], { environment });
  expect(second).toMatchObject({ code: 0, stderr: "" });
  expect(second.stdout).toMatch(/ · \d+(?:\.\d)? m?s · session /);
  expect(model.requests.at(-1)?.transcript).toMatch(/first[^]*second/);

  const list = (await cli.run(["sessions", "list"], { environment })).stdout;
  expect(list).toMatch(/ idle +just now /);
  const id = /^([0-9a-f]{8})/m.exec(list)?.[1] ?? "?";
  const shown = (await cli.run(["sessions", "show", id], { environment })).stdout;
  expect(shown).toMatch(/> first\nanswer 0\n\n> second\nanswer 1\n/);
  const events = (await cli.run(["sessions", "show", id, "--json"])).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { seq: number; processed_at: string | null });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const times = events.flatMap(({ processed_at: at }) => (at === null ? [] : [Date.parse(at)]));
  expect((times[0] ?? 0) - (times.at(-1) ?? 0), "the clock did jump").toBeGreaterThan(DAY_MS / 2);
  // The archive carries the hash chain, which is checked when it is read.
  await cli.run(["sessions", "export", id, "-o", "session.jsonl"], { environment });
  expect((await cli.run(["sessions", "import", "session.jsonl"], { environment })).code).toBe(0);
});

test("a lease that a dead host left does not hold until the clock has caught up", async () => {
  await using model = await scriptedModel((request) =>
    request.last.includes("Work") && request.toolResults.length === 0
      ? call("Bash", { command: "echo started > effects.txt; sleep 60" })
      : say("an answer"),
  );
  using cli = testCli(model.url);
  const child = cli.start(["run", "--mode", "yolo", "Work."]);
  await expect.poll(() => existsSync(join(cli.cwd, "effects.txt")), { timeout: 20_000 }).toBe(true);
  child.kill("SIGKILL");
  await exitOf(child);
  const resumed = await cli.run(["run", "-c", "What happened?"], { environment: clockBehind(DAY_MS) });
  expect(resumed).toMatchObject({ code: 0, stderr: "" });
  expect(model.requests.at(-1)?.transcript).toMatch(/Work\.[^]*outcome is unknown[^]*What happened\?/);
});
