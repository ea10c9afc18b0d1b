import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/host.ts";
import { facts, problemWith, saying, turn, verdictOf, parseGrader } from "./grade-support.ts";

type Case = readonly [grader: Readonly<Record<string, unknown>>, text: string, passes: boolean, message: RegExp];

const CASES: readonly Case[] = [
  [{ equals: "Done.\n" }, "Done.", true, /is "Done\."/],
  [{ equals: "Done." }, "Not done.", false, /expected the text to be "Done\." \(found "Not done\."\)/],
  [{ equals: "" }, "", true, /is ""/],
  [{ equals: " a" }, "a", false, /expected the text to be " a"/],
  [{ contains: "port 80" }, "It is port 8080.", true, /contains "port 80"/],
  [{ contains: ["a", "b"] }, "only a", false, /to contain "b" \(found "only a"\)/],
  [{ not_contains: ["secret", "key"] }, "nothing here", true, /does not contain/],
  [
    { not_contains: "secret" },
    `${"x".repeat(500)} the secret is out`,
    false,
    /not to contain "secret" \(found "….* the secret is out"/,
  ],
  [{ regex: "^\\d{3}$" }, "123", true, /matches/],
  [{ regex: "/^done\\.$/i" }, "DONE.", true, /matches/],
  [{ regex: ["\\d", "[a-z]"] }, "123", false, /to match \[a-z\] \(found "123"\)/],
  [{ json: { path: "$.a[1].b", equals: 2 } }, '{"a": [1, {"b": 2}]}', true, /\$\.a\[1\]\.b is 2/],
  [{ json: { path: "$.a", equals: { b: [1] } } }, 'Here:\n```json\n{"a": {"b": [1]}}\n```\n', true, /is/],
  [{ json: { path: "$.a", equals: null } }, '{"a": null}', true, /is null/],
  [{ json: { path: "$.a", equals: 1 } }, '{"a": "1"}', false, /expected \$\.a to be 1 \(found "1"\)/],
  [{ json: { path: "$.b" } }, '{"a": 1}', false, /expected \$\.b to exist \(found \{\\?"a/],
  [{ json: { path: "$.b", exists: false } }, '{"a": 1}', true, /does not exist/],
  [{ json: { path: "$.a", exists: false } }, '{"a": 1}', false, /not to exist \(found 1\)/],
  [{ json: { path: "$..name", matches: "^B" } }, '[{"name": "Ann"}, {"name": "Bob"}]', true, /2 values/],
  [
    { json: { path: "$[*].name", equals: "Eve" } },
    '[{"name": "Ann"}, {"name": "Bob"}]',
    false,
    /2 values: \["Ann","Bob"\]/,
  ],
  [{ json: {} }, "no JSON", false, /expected JSON \(found "no JSON"/],
  [{ json_schema: { type: "object", required: ["a"] } }, '{"a": 1}', true, /matches the schema/],
  [{ json_schema: { type: "object", required: ["a"] } }, "{}", false, /matches the schema \(found \{\}\)\n- .*a/],
  [{ json_schema: { type: "object" } }, "nothing", false, /expected JSON/],
  [{ number: { equals: 42 } }, "Of 100 files 42 are left.", true, /is 42/],
  [{ number: { equals: 42 } }, "It is 42 of 100.", false, /the last number of the text to be 42 \(found 100\)/],
  [{ number: { equals: 1234.5 } }, "It costs $1,234.50", true, /1234\.5/],
  [{ number: { equals: -3, tolerance: 0.1 } }, "It is −2.95 °C in v1.2.3 of a2", true, /-2\.95, expected -3 ± 0\.1/],
  [{ number: { equals: 0.3, tolerance: 0.1 } }, "0.2", true, /0\.2/],
  [{ number: { equals: 20 } }, "It took 20ms in x64 1.2.3.", true, /is 20/],
  [{ number: { equals: 1e6 } }, "about 1e6", true, /1000000/],
  [{ number: { equals: 1 } }, "none", false, /expected a number in the text \(found "none"\)/],
  [{ number: { equals: 3, path: "$.n" } }, '{"n": 3}', true, /\$\.n is 3/],
  [{ number: { equals: 3, path: "$.n" } }, '{"n": "3"}', false, /one number at \$\.n \(found "3"\)/],
  [{ number: { equals: 3, path: "$.m" } }, '{"n": 3}', false, /found nothing/],
  [{ similarity: { to: "the cat sat", method: "rouge_1", at_least: 0.6 } }, "the cat ran", true, /is 0\.667/],
  [
    { similarity: { to: "the cat sat", method: "rouge_2", at_least: 0.6 } },
    "the cat ran",
    false,
    /is 0\.500, expected at least 0\.6: .*"the cat sat" \(found "the cat ran"\)/,
  ],
  [{ similarity: { to: ["x", "kitten"], method: "levenshtein", at_least: 0.8 } }, "sitten", true, /0\.833/],
];

test.for(CASES)("%j on %j: passes is %s", async ([grader, text, passed, message]) => {
  const verdict = await verdictOf(grader, saying(text));
  expect(verdict).toMatchObject({ grader: Object.keys(grader)[0], passed });
  expect(verdict.message).toMatch(message);
});

test("yes is 1 and no is 0; what is measured has its own score", async () => {
  expect((await verdictOf({ equals: "a" }, saying("a"))).score).toBe(1);
  expect((await verdictOf({ equals: "a" }, saying("b"))).score).toBe(0);
  const similar = { similarity: { to: "abcd", method: "levenshtein", at_least: 0.9 } };
  expect((await verdictOf(similar, saying("abce"))).score).toBe(0.75);
});

test("a failure in several lines has a diff", async () => {
  const { diff } = await verdictOf({ equals: "one\ntwo\nthree" }, saying("one\n2\nthree"));
  expect(diff).toContain("-two\n+2\n");
  expect((await verdictOf({ equals: "one\n" }, saying("two"))).diff).toBeUndefined();
});

test("a verdict has the name that the suite gives it, and long texts are cut", async () => {
  const verdict = await verdictOf({ equals: "a", name: "says a" }, saying("b".repeat(10_000)));
  expect(verdict.grader).toBe("says a");
  expect(verdict.message.length).toBeLessThan(500);
});

test("graders look at the last turn, or at the one they name", async () => {
  const trial = facts({ turns: [turn({ text: "first" }), turn({ text: "second" })] });
  expect((await verdictOf({ equals: "second" }, trial)).passed).toBe(true);
  expect((await verdictOf({ equals: "first", turn: 1 }, trial)).passed).toBe(true);
  const missing = await verdictOf({ equals: "x", turn: 3 }, trial);
  expect(missing).toMatchObject({ passed: false, message: "expected turn 3 to exist (found 2 turns that ended)" });
});

const output = facts({ turns: [turn({ text: "", output: { city: "Ulm", people: [{ age: 30 }] } })] });

test("structured output is checked by path, by schema and as a whole", async () => {
  for (const [given, passed] of [
    [{ path: "$.people[0].age", equals: 30 }, true],
    [{ path: "$.city", matches: "^K" }, false],
    [{ schema: { type: "object", required: ["city"] } }, true],
    [{ schema: { type: "object", required: ["country"] } }, false],
    [{ value: { people: [{ age: 30 }], city: "Ulm" } }, true],
    [{ value: { city: "Ulm" } }, false],
  ] as const)
    expect(await verdictOf({ output: given }, output), JSON.stringify(given)).toMatchObject({ passed });
  const none = await verdictOf({ output: {} }, saying("just text"));
  expect(none).toMatchObject({
    passed: false,
    message: expect.stringContaining('found none; the agent said "just text"'),
  });
});

test("graders of JSON look at the structured output where there is one", async () => {
  expect((await verdictOf({ json: { path: "$.city", equals: "Ulm" } }, output)).passed).toBe(true);
  expect((await verdictOf({ number: { path: "$..age", equals: 30 } }, output)).passed).toBe(true);
});

test("a schema may be a file beside the suite", async () => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "schemas"));
  writeFileSync(join(directory.path, "schemas/a.yaml"), "type: object\nrequired: [a]\n");
  writeFileSync(join(directory.path, "schemas/list.json"), "[]");
  const trial = { ...saying('{"a": 1}'), suiteFile: join(directory.path, "x.test.yaml") };
  expect((await verdictOf({ json_schema: "schemas/a.yaml" }, trial)).passed).toBe(true);
  expect((await verdictOf({ json_schema: "schemas/a.yaml" }, { ...trial, turns: [turn({ text: "{}" })] })).passed).toBe(
    false,
  );
  await expect(verdictOf({ json_schema: "schemas/none.json" }, trial)).rejects.toThrow(
    /json_schema: the schema .*none\.json cannot be read/,
  );
  await expect(verdictOf({ json_schema: "schemas/list.json" }, trial)).rejects.toThrow(/not a mapping/);
  await expect(verdictOf({ json_schema: { type: "nonsense" } }, trial)).rejects.toThrow(/json_schema: /);
});

test("a pattern that would take for ever is ended, and is an error", async () => {
  await expect(verdictOf({ regex: "(a+)+b" }, saying("a".repeat(50)))).rejects.toThrow(
    /regex: the pattern .* takes longer than a second/,
  );
  // What is left of it does not hold the next one.
  expect((await verdictOf({ regex: "a" }, saying("a"))).passed).toBe(true);
});

const WRONG: readonly (readonly [given: Readonly<Record<string, unknown>>, problem: RegExp])[] = [
  [{ regex: "(" }, /expected a regular expression/],
  [{ regex: ["a", "/[/i"] }, /expected a regular expression/],
  [{ json: { path: "a.b" } }, /start with \$/],
  [{ json: { path: "$.a[?(@.b)]" } }, /character 4: .*no filters/],
  [{ json: { path: "$.a", matches: "[" } }, /expected a regular expression/],
  [{ number: { equals: 1, path: "$[" } }, /character 2/],
  [{ number: { equals: 1, tolerance: -1 } }, /tolerance/],
  [{ similarity: { to: "a", method: "cosine", at_least: 0.5 } }, /method/],
  [{ similarity: { to: "a", method: "bleu", at_least: 60 } }, /at_least/],
  [{ contains: [] }, /contains/],
  [{ tool_call: { tool: "Bash", input: { a: { command: "/(/" } } } }, /between the slashes/],
  [{ tool_call: { tool: "Bash", count: {} } }, /count/],
  [{ files: {} }, /at least one of the keys/],
  [{ files: { exist: ["../x"] } }, /a path inside the workspace/],
  [{ files: { exist: ["/etc/passwd"] } }, /a path inside the workspace/],
  [{ files: { content: { "a/../../x": "y" } } }, /a path inside the workspace/],
  [{ diff: {} }, /at least one of the keys/],
  [{ recovery: {} }, /at least one of the keys/],
  [{ duration: { at_most: "soon" } }, /expected a duration/],
  [{ command: { run: "true", timeout: "1 parsec" } }, /command/],
  [{ code: { module: "a.ts", timeout: "x" } }, /expected a duration/],
  [{ rubric: { criteria: "good" } }, /threshold/],
];

test.for(WRONG)("%j is refused when the suite is read", ([given, problem]) => {
  expect(problemWith(given)).toMatch(problem);
});

test.for(["..a", "a..b/c", "a/..b", ".env", "a b"])("%s is a path inside the workspace", (path) => {
  expect(parseGrader({ files: { exist: [path] } }).kind).toBe("files");
});
