import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, testCli } from "../support/cli.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";

/** A turn that a budget rejected. */
const REFUSED = { code: 4, stderr: expect.stringContaining("turns") };
const FINE = { code: 0 };

interface Place extends AsyncDisposable {
  readonly cli: Cli;
  turn(directory?: string): Promise<unknown>;
}

const settings = (turns: number): string => `budgets: { project: { turns: ${turns} } }\n`;

/** A user whose own settings, and a project whose trusted ones, may limit the turns of a project. */
async function place({ own, project }: { own?: number; project?: number }): Promise<Place> {
  const stack = new AsyncDisposableStack();
  const model = stack.use(await scriptedModel(() => say("hi")));
  const cli = stack.use(testCli(model.url));
  mkdirSync(join(cli.home, ".capstan"), { mode: 0o700 });
  mkdirSync(join(cli.cwd, "sub"));
  if (own !== undefined) writeFileSync(join(cli.home, ".capstan/config.yaml"), settings(own));
  if (project !== undefined) {
    mkdirSync(join(cli.cwd, ".capstan"));
    writeFileSync(join(cli.cwd, ".capstan/config.yaml"), settings(project));
    expect(await cli.run(["trust", "--yes"])).toMatchObject(FINE);
  }
  const turn = (directory = "."): Promise<unknown> => cli.run(["run", "hello"], { cwd: join(cli.cwd, directory) });
  return { cli, turn, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("a new .capstan does not reset a budget, but a person's trust in it does", async () => {
  await using t = await place({ own: 2 });
  expect(await t.turn()).toMatchObject(FINE);
  expect(await t.turn()).toMatchObject(FINE);
  expect(await t.turn()).toMatchObject(REFUSED);
  mkdirSync(join(t.cli.cwd, ".capstan"));
  expect(await t.turn()).toMatchObject(REFUSED);
  expect(await t.cli.run(["trust", "--yes"])).toMatchObject(FINE);
  // Its own turns count, including the rejected one.
  expect(await t.turn()).toMatchObject(FINE);
  expect(await t.turn()).toMatchObject(REFUSED);
});

test("removing, recreating or changing a .capstan does not reset a budget", async () => {
  await using t = await place({ project: 1 });
  expect(await t.turn()).toMatchObject(FINE);
  expect(await t.turn()).toMatchObject(REFUSED);
  rmSync(join(t.cli.cwd, ".capstan"), { recursive: true });
  expect(await t.turn()).toMatchObject(REFUSED);
  mkdirSync(join(t.cli.cwd, ".capstan"));
  expect(await t.turn()).toMatchObject(REFUSED);
  writeFileSync(join(t.cli.cwd, ".capstan/config.yaml"), "budgets: { project: { turns: 100 } }\n");
  expect(await t.turn()).toMatchObject(REFUSED);
});

test("projects created inside a project count together with it", async () => {
  await using t = await place({ project: 2 });
  expect(await t.turn()).toMatchObject(FINE);
  mkdirSync(join(t.cli.cwd, "sub/.capstan"));
  expect(await t.turn("sub")).toMatchObject(FINE);
  expect(await t.turn("sub")).toMatchObject(REFUSED);
  mkdirSync(join(t.cli.cwd, "sub/deeper/.capstan"), { recursive: true });
  expect(await t.turn("sub/deeper")).toMatchObject(REFUSED);
  expect(await t.turn()).toMatchObject(REFUSED);
});
