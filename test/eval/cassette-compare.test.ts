import { expect, test } from "vitest";
import { compareCassettes } from "../../src/gateway/cassette/compare.ts";
import type { Cassette } from "../../src/core/suite/cassette.ts";
import { cassetteOf, exchange, results, thread, textNews } from "../support/cassettes.ts";

const SIDES = ["a.json", "b.json"] as const;

function conversation({ ids = ["toolu_1", "toolu_2"], answer = "A.", file = "a.txt" } = {}): Cassette {
  const [first = "", second = ""] = ids;
  const sorted = [
    [first, "one"],
    [second, "two"],
  ].toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)) as [string, string][];
  return cassetteOf([
    thread("main", [
      exchange({
        told: [textNews("user", "Review it.")],
        says: [
          { type: "tool_use", id: first, name: "Read", input: { file_path: `\${WORKSPACE}/${file}` } },
          { type: "tool_use", id: second, name: "Read", input: { file_path: "${WORKSPACE}/b.txt" } },
        ],
      }),
      exchange({ told: [results(...sorted)], says: [{ type: "text", text: answer }] }),
    ]),
  ]);
}

function summaries(a: Cassette, b: Cassette): string[] {
  return compareCassettes(a, b, SIDES).map(
    ({ thread: line, ordinal, what, summary }) => `${line} ${ordinal} ${what}: ${summary}`,
  );
}

test("ids that every recording has anew are no difference, in whatever order they are sorted", () => {
  expect(compareCassettes(conversation(), conversation({ ids: ["toolu_9", "toolu_8"] }), SIDES)).toEqual([]);
});

test("another call and other words are told with a diff", () => {
  const found = compareCassettes(conversation(), conversation({ file: "c.txt", answer: "B." }), SIDES);
  expect(found.map(({ ordinal, what }) => [ordinal, what])).toEqual([
    [1, "answer"],
    [2, "answer"],
  ]);
  expect(found[0]?.diff).toMatch(/^--- a\.json\n\+\+\+ b\.json\n/);
  expect(found[0]?.diff).toContain("-        file_path: ${WORKSPACE}/a.txt\n+        file_path: ${WORKSPACE}/c.txt");
});

test("instructions, tools and what the model was told are told apart", () => {
  const one = cassetteOf([
    thread("main", [exchange({ told: [textNews("user", "Hi.")], says: [{ type: "text", text: "A." }] })]),
  ]);
  const other = cassetteOf(
    [
      thread("main", [
        exchange({
          told: [textNews("user", "Ho.")],
          says: [{ type: "text", text: "A." }],
          instructions: "j",
          tools: "u",
        }),
      ]),
    ],
    { texts: { j: [{ type: "text", text: "You review files.\nBe long." }], u: [{ name: "Write" }] } },
  );
  expect(summaries(one, other)).toEqual([
    "main 1 instructions: the instructions changed",
    "main 1 tools: the tools changed (removed: Read; new: Write)",
    "main 1 content: the message to the model changed",
  ]);
});

const sub = (name: string, task: string, more: number) =>
  thread(name, [
    exchange({ told: [textNews("user", task)], says: [{ type: "text", text: task }] }),
    ...Array.from({ length: more }, () => exchange({ says: [{ type: "text", text: "More." }] })),
  ]);

test("subagents are compared by their tasks, and requests that only one has are named", () => {
  const one = cassetteOf([sub("agent-1", "left", 0), sub("agent-2", "right", 0)]);
  const other = cassetteOf([sub("agent-1", "right", 0), sub("agent-2", "left", 1)]);
  expect(summaries(one, other)).toEqual(["agent-1 2 new: only b.json has this request"]);
  expect(summaries(other, one)).toEqual(["agent-2 2 missing: only a.json has this request"]);
});
