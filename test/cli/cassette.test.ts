import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { cassetteText } from "../../src/cli/test/cassette-view.ts";
import type { Cassette } from "../../src/core/suite/cassette.ts";
import { cassetteOf, exchange, results, thread, textNews } from "../support/cassettes.ts";
import { testCli } from "../support/cli.ts";
import { writeTree } from "../support/suites.ts";

const SHOWN = cassetteOf([
  thread("main", [
    exchange({
      told: [
        textNews("user", "Review a.txt."),
        textNews("system", Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n")),
      ],
      says: [
        { type: "text", text: "I look at it." },
        { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "${WORKSPACE}/a.txt" } },
      ],
    }),
    exchange({
      told: [results(["toolu_1", "It says \u001B[31mhello."])],
      says: [{ type: "text", text: "A long answer. ".repeat(12) }],
    }),
  ]),
  thread("agent-1", [exchange({ told: [textNews("user", "Look left.")], says: [{ type: "text", text: "Left." }] })]),
]);

test("a cassette reads like a conversation, in eighty columns", () => {
  const text = cassetteText(SHOWN, { isFull: false, width: 80 });
  expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(text).toMatchInlineSnapshot(`
    "review: one file
    recorded 2026-01-02T03:04:05.000Z · capstan 0.1.0 · SDK 0.3.0

    main: 2 requests
        model: claude-opus-4-8
        tools: Read
      1
        user: Review a.txt.
        engine:
          line 0
          line 1
          line 2
          line 3
          line 4
          line 5
          line 6
          line 7
          … 12 more lines (--full)
        says: I look at it.
        calls: Read {"file_path":"\${WORKSPACE}/a.txt"}
        tool_use · 1,200 in · 7 out
      2
        tool result: It says \\u{1b}[31mhello.
        says:
          A long answer. A long answer. A long answer. A long answer. A long answer.
          A long answer. A long answer. A long answer. A long answer. A long answer.
          A long answer. A long answer.
        end_turn · 1,200 in · 7 out

    agent-1: 1 request
        model: claude-opus-4-8
        tools: Read
      1
        user: Look left.
        says: Left.
        end_turn · 1,200 in · 7 out"
  `);
  const full = cassetteText(SHOWN, { isFull: true, width: 80 });
  expect(full).toContain("line 19");
  expect(full).toContain("Be short.");
});

test("cassettes are shown and compared by file, as text and as JSON", async () => {
  using cli = testCli();
  write(join(cli.cwd, "a.json"), SHOWN);
  write(join(cli.cwd, "b.json"), {
    ...SHOWN,
    texts: { ...SHOWN.texts, i: [{ type: "text", text: "You review files.\nBe long." }] },
  });
  writeFileSync(join(cli.cwd, "c.json"), '{"format":1,');
  const [json, differ, same, missing, broken] = await Promise.all([
    cli.run(["cassette", "show", "a.json", "--json"]),
    cli.run(["cassette", "diff", "a.json", "b.json"]),
    cli.run(["cassette", "diff", "a.json", "a.json"]),
    cli.run(["cassette", "show", "d.json"]),
    cli.run(["cassette", "show", "c.json"], { environment: { CAPSTAN_URL: "http://127.0.0.1:9" } }),
  ]);
  expect(JSON.parse(json.stdout)).toEqual(SHOWN);
  expect(differ).toMatchObject({ code: 1, stderr: "" });
  expect(differ.stdout).toContain("main, request 1 and 2 others: the instructions changed\n--- a.json\n+++ b.json\n");
  expect(differ.stdout).toContain("-    Be short.\n+    Be long.");
  expect(same).toMatchObject({ code: 0, stdout: "No differences.\n" });
  expect(missing).toMatchObject({ code: 2, stdout: "" });
  expect(missing.stderr).toContain("The cassette d.json does not exist.");
  expect(broken).toMatchObject({ code: 2, stdout: "" });
  expect(broken.stderr).toContain("The cassette c.json cannot be used: it is not complete JSON");
});

test.each<[string, (text: string) => string, string]>([
  [
    "a message that is none",
    (text) => text.replace(/"news":\[.*?\}\]\}\]/, '"news":["x"]'),
    "threads.0.exchanges.0.news.0: ",
  ],
  [
    "a call without an id",
    (text) => text.replace('"id":"toolu_1",', ""),
    "threads.0.exchanges.0.answer.message.content.1.id: ",
  ],
  [
    "a call with a text as its input",
    (text) => text.replace('"input":{"file_path":"${WORKSPACE}/a.txt"}', '"input":"a.txt"'),
    "threads.0.exchanges.0.answer.message.content.1.input: ",
  ],
  [
    "a text without words",
    (text) => text.replace('"text":"Left."', '"words":"Left."'),
    "threads.1.exchanges.0.answer.message.content.0.text: ",
  ],
  ["tools that are no list", (text) => text.replace(/"t":\[.*?\]/, '"t":"Read"'), "texts.t: expected a list of tools"],
])("a cassette that was edited is told with the place: %s", async (_what, change, place) => {
  using cli = testCli();
  const edited = change(JSON.stringify(SHOWN));
  expect(edited).not.toBe(JSON.stringify(SHOWN));
  writeFileSync(join(cli.cwd, "a.json"), edited);
  const { code, stderr } = await cli.run(["cassette", "show", "a.json"]);
  expect(code).toBe(2);
  expect(stderr).toContain(`The cassette a.json cannot be used: it was edited, at ${place}`);
});

test("a tool that answered nothing is shown", () => {
  const told = [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] }];
  const shown = cassetteOf([thread("main", [exchange({ told, says: [{ type: "text", text: "So." }] })])]);
  expect(cassetteText(shown, { isFull: false, width: 80 })).toContain("tool result: \n");
});

const SUITE = `
agent: agent.yaml
cases:
  - { name: one file, input: Hello, trials: 2 }
`;

test("cassettes that nothing would replay are listed, and removed only with a yes", async () => {
  using cli = testCli();
  writeTree(cli.cwd, {
    "agent.yaml": "name: worker\ninstructions: You work.\nmodel: claude-opus-4-8\n",
    "review.test.yaml": SUITE,
    "odd.test.yaml": "cases: 7\n",
    "cassettes/review.test/notes.txt": "mine\n",
    "cassettes/review.test/data.json": "{}\n",
  });
  const at = (file: string): string => join(cli.cwd, "cassettes", file);
  const kept = ["review.test/one-file.json", "review.test/one-file.2.json", "odd.test/any.json"];
  const gone = ["review.test/one-file.3.json", "review.test/old.json", "away.test/one.json"];
  for (const file of kept) write(at(file), SHOWN);
  write(at("review.test/one-file.3.json"), { ...SHOWN, trial: 3 });
  write(at("review.test/old.json"), { ...SHOWN, case: "old" });
  write(at("away.test/one.json"), SHOWN);

  const dry = await cli.run(["cassette", "prune", "--dry-run"]);
  expect(dry.stdout).toBe(
    [
      "cassettes/away.test/one.json\n  its suite no longer exists",
      "cassettes/review.test/old.json\n  its case no longer exists",
      "cassettes/review.test/one-file.3.json\n  the case has only 2 trials, and this is trial 3\n",
    ].join("\n"),
  );
  expect(dry.stderr).toContain("cassettes/review.test/data.json is not a cassette; keeping it.");
  expect(dry.stderr).toContain("Keeping the cassettes in cassettes/odd.test, because their suite cannot be read");
  expect(dry.stderr).toContain("Nothing was removed.\n");
  const [asked, named] = [await cli.run(["cassette", "prune"]), await cli.run(["cassette", "prune", "nowhere"])];
  expect(asked.code).not.toBe(0);
  expect(asked.stderr).toContain("To remove the listed cassettes, add --yes.");
  expect(named).toMatchObject({ code: 2 });
  expect([...kept, ...gone].every((file) => existsSync(at(file)))).toBe(true);

  const removed = await cli.run(["cassette", "prune", "--yes", "--json"]);
  expect(
    removed.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { removed: boolean }).removed),
  ).toEqual([true, true, true]);
  expect(kept.every((file) => existsSync(at(file)))).toBe(true);
  expect(gone.some((file) => existsSync(at(file)))).toBe(false);
  expect([existsSync(at("away.test")), existsSync(at("review.test/data.json"))]).toEqual([false, true]);
});

test("a copy under another name and the cassettes of tests that an agent has no more are told as what they are", async () => {
  using cli = testCli();
  writeTree(cli.cwd, {
    "agent.yaml": "name: worker\ninstructions: You work.\nmodel: claude-opus-4-8\n",
    "review.test.yaml": SUITE.replace("trials: 2", "trials: 1"),
  });
  for (const file of ["review.test/one-file.json", "review.test/copy.json", "agent/one-file.json"])
    write(join(cli.cwd, "cassettes", file), SHOWN);
  write(join(cli.cwd, "cassettes/review.test/one-file.2.json"), { ...SHOWN, trial: 2 });
  const { code, stdout, stderr } = await cli.run(["cassette", "prune", "--dry-run"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "Nothing was removed.\n" });
  expect(stdout).toBe(
    [
      "cassettes/agent/one-file.json\n  its suite no longer exists",
      "cassettes/review.test/copy.json\n  trial 1 of the case is replayed from one-file.json",
      "cassettes/review.test/one-file.2.json\n  the case has only 1 trial, and this is trial 2\n",
    ].join("\n"),
  );
});

function write(file: string, content: Cassette): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
}
