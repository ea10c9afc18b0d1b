import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { GraderError } from "../../src/eval/graders/grader.ts";
import { call, facts, saying, verdictOf } from "./grade-support.ts";

const root = mkdtempSync(join(tmpdir(), "capstan-test-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(
  join(root, "checks.ts"),
  `
  import { readdirSync } from "node:fs";
  interface Facts { readonly turns: readonly { readonly text: string }[]; readonly calls: readonly unknown[] }
  export default ({ turns }: Facts) => turns.at(-1)?.text === "Done.";
  export const calls = async ({ calls }: Facts, { most }: { most: number }) =>
    ({ passed: calls.length <= most, score: 0.5, message: calls.length + " calls" });
  export const throws = () => { throw new Error("nothing to see"); };
  export const rejects = () => Promise.reject("plain words");
  export const loops = () => { for (;;); };
  export const waits = () => new Promise(() => setInterval(() => {}, 1000));
  export const exits = () => process.exit(0);
  export const nonsense = () => "yes";
  export const wrongScore = () => ({ passed: true, score: 7 });
  export const uncloneable = () => () => {};
  export const variables = () => Object.keys(process.env).length === 0;
  export const prints = () => { console.log("from a grader"); return true; };
  export const spoils = (facts: { calls: unknown[] }) => { facts.calls.length = 0; return true; };
  export const notAFunction = 1;
  `,
);
writeFileSync(join(root, "broken.mjs"), "export default (");

const trial = facts({ ...saying("Done."), suiteFile: join(root, "a.test.yaml"), calls: [call("Read"), call("Bash")] });
const module = "checks.ts";
const code = (name: string, more: object = {}) => ({ code: { module, export: name, ...more } });

test("a function says yes or no", async () => {
  expect(await verdictOf({ code: { module } }, trial)).toMatchObject({ passed: true, score: 1 });
  const other = { ...trial, turns: saying("Not yet.").turns };
  const { message, ...verdict } = await verdictOf({ code: { module } }, other);
  expect(verdict).toEqual({ grader: "code", passed: false, score: 0 });
  expect(message).toMatch(/default of .*checks\.ts says no/);
});

test("a function gets its options, and gives a score and words of its own", async () => {
  expect(await verdictOf(code("calls", { options: { most: 1 } }), trial)).toEqual({
    grader: "code",
    passed: false,
    score: 0.5,
    message: "2 calls",
  });
});

test("a function sees no variables, what it prints is not shown, and what it changes is its own copy", async () => {
  expect((await verdictOf(code("variables"), trial)).passed).toBe(true);
  expect((await verdictOf(code("prints"), trial)).passed).toBe(true);
  expect((await verdictOf(code("spoils"), trial)).passed).toBe(true);
  expect(trial.calls.length).toBe(2);
});

test.for([
  ["throws", /code: throws of .*checks\.ts threw: Error: nothing to see/],
  ["rejects", /threw: plain words/],
  ["exits", /its thread ended before it answered/],
  ["nonsense", /returned "yes"; expected true, false or \{ passed/],
  ["wrongScore", /a score from 0 to 1/],
  ["uncloneable", /could not be cloned/],
  ["notAFunction", /exports no function of this name/],
  ["absent", /exports no function of this name/],
] as const)("a function that %s is an error", async ([name, message]) => {
  const error = await verdictOf(code(name), trial).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GraderError);
  expect((error as GraderError).message).toMatch(message);
});

test.for(["loops", "waits"])("a function that %s for ever is ended, and is an error", async (name) => {
  await expect(verdictOf(code(name, { timeout: "300ms" }), trial)).rejects.toThrow(/did not answer within 300 ms/);
});

test.for(["none.ts", "broken.mjs"])("a module %s that cannot be loaded is an error", async (file) => {
  await expect(verdictOf({ code: { module: file } }, trial)).rejects.toThrow(/code: default of .* threw: /);
});

test("a function that is given up ends with the reason", async () => {
  const stop = new AbortController();
  const graded = verdictOf(code("loops"), trial, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(graded).rejects.toThrow("enough");
});
