import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";

const USAGE = { input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 2_000 };
/** Of that usage on claude-opus-4-8. */
const USD = 0.005 + 0.0025 + 0.001;

test("usage adds up by each grouping, keeps rehearsals apart and says what has no price", async () => {
  await using model = await scriptedModel(() => ({ ...say("ok"), usage: USAGE }));
  using cli = testCli(model.url);
  expect((await cli.run(["usage"])).stdout).toContain("No spending yet.");
  await cli.run(["run", "one"]);
  await cli.run(["run", "two"]);
  await cli.run(["run", "--model", "mystery-1", "three"]);
  await cli.run(["run", "--rehearsal", "hello"]);

  const json = async (...args: string[]) =>
    (await cli.run(["usage", "--json", ...args])).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { by: string; key: string; billing: string; usd: number; requests: number });
  const byModel = await json("--by", "model");
  expect(byModel).toMatchObject([
    { by: "model", key: "claude-opus-4-8", billing: expect.any(String) as string },
    { by: "model", key: "claude-opus-4-8", billing: expect.any(String) as string },
    { by: "model", key: "mystery-1", billing: "paid", usd: 0, unpricedRequests: 1 },
    { by: "total", billing: "paid", requests: 3, inputTokens: 3_000, cacheReadTokens: 6_000, cacheHitRate: 2 / 3 },
    { by: "total", billing: "rehearsal", requests: 1 },
  ]);
  expect(byModel.find(({ by, billing }) => by === "total" && billing === "paid")?.usd).toBeCloseTo(2 * USD, 10);
  for (const by of ["day", "agent", "session", "project", "thread", "tool"]) {
    const lines = await json("--by", by);
    const paid = lines.filter((line) => line.billing === "paid" && line.by === by);
    expect(
      paid.reduce((sum, line) => sum + line.usd, 0),
      by,
    ).toBeCloseTo(2 * USD, 10);
  }
  const shown = (await cli.run(["usage", "--by", "model", "--since", "1d"])).stdout;
  expect(shown).toMatch(/^unknown +1 +1,000 +2,000 +67% +100 +paid +mystery-1$/m);
  expect(shown).toMatch(/^\$0\.02 \+ unknown +3 +3,000 +6,000 +67% +300 +paid +total$/m);
  expect(shown).toMatch(/ rehearsal +total$/m);
  expect(shown).toContain("Requests with unknown price: 1.");
  for (const line of shown.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect((await cli.run(["usage", "--project", "/no/such"])).stdout).toContain("No spending yet.");

  const list = (await cli.run(["sessions", "list"])).stdout;
  expect(list).toMatch(/ \$0\.\d+ rehearsal +assistant +hello$/m);
  expect(list).toMatch(/ unknown +assistant +three$/m);
  expect((await cli.run(["projects"])).stdout).toMatch(/\$0\.02 \+ \$0\.\d+ rehearsal \+ unknown/);
});

test("wrong options are told", async () => {
  using cli = testCli();
  for (const args of [
    ["--by", "week"],
    ["--since", "yesterday"],
    ["--time-zone", "Mars/Base"],
  ])
    expect((await cli.run(["usage", ...args])).code, args.join(" ")).toBe(2);
});

test("a day's budget in the project's settings stops a run, and its days are those of its zone", async () => {
  await using model = await scriptedModel(() => ({
    ...say("ok"),
    usage: { input_tokens: 100_000, output_tokens: 10 },
  }));
  using cli = testCli(model.url);
  mkdirSync(join(cli.cwd, ".capstan"));
  const settings = join(cli.cwd, ".capstan", "config.yaml");
  writeFileSync(settings, "budgets: { day: { usd: 0.5, time_zone: Pacific/Kiritimati } }\n");
  expect((await cli.run(["run", "one"])).code).toBe(0);
  const refused = await cli.run(["run", "-c", "two"]);
  expect(refused.code).toBe(4);
  expect((await cli.run(["usage"])).stdout).toContain("days in Pacific/Kiritimati");
  // A directory of the project and another name for it mean the project, too.
  mkdirSync(join(cli.cwd, "below"));
  symlinkSync(cli.cwd, join(cli.cwd, "link"));
  for (const place of ["below", "link"]) {
    expect((await cli.run(["usage", "--project", place])).stdout, place).toContain("total");
    expect((await cli.run(["sessions", "list", "--project", place])).stdout, place).toContain("idle");
  }
  writeFileSync(settings, "budgets: { day: { usd: 5 } }\n");
  expect((await cli.run(["run", "-c", "two"])).code).toBe(0);
});
