import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RecordedNews } from "../../../src/core/suite/cassette.ts";
import { type Compared, differences } from "../../../src/gateway/cassette/drift.ts";
import { VARYING_RULES } from "../../../src/core/varying/varying-rules.ts";
import { temporaryDirectory } from "../../support/host.ts";
import { SAMPLES } from "./samples.ts";

function toolNews(text: string, type = "tool_result"): readonly RecordedNews[] {
  return [{ role: "user", content: [type === "text" ? { type, text } : { type, tool_use_id: "c", content: text }] }];
}

function compareTexts(
  before: string,
  after: string,
  { type, ignore }: { type?: string; ignore?: RegExp[] } = {},
): Compared {
  const asked = { model: "m", settings: {}, instructions: "", tools: [] };
  const recorded = { model: "m", settings: {}, instructions: "i", tools: "t" };
  const texts = { i: "", t: [] };
  return differences(
    { ...recorded, news: [...toolNews(before, type)] },
    { ...asked, news: [...toolNews(after, type)] },
    texts,
    ignore === undefined ? {} : { leeway: { ignore, interrupted: new Set() } },
  );
}

describe.each(SAMPLES)("$name", ({ once, again, others }) => {
  test("what varies by itself is no drift, and is named", () => {
    const { differences: drifts, ignored } = compareTexts(once, again);
    expect(drifts).toEqual([]);
    expect(ignored).toHaveLength(1);
    expect(ignored[0]?.kinds.length).toBeGreaterThan(0);
    expect(ignored[0]?.diff).toContain("\n-");
  });

  test.each(others)("$is: that is drift", ({ text }) => {
    expect(compareTexts(once, text).differences).toMatchObject([
      { what: "content", summary: "a tool answered differently" },
    ]);
  });
});

const bash = (command: string, cwd: string): string =>
  execFileSync("bash", ["--norc", "-c", command], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
  });

/** Without the times that every text of a cassette loses already. */
function withoutTimes(text: string): string {
  return text.replaceAll(/\d{4}-\d{2}-\d{2} [\d:.]+ [+-]\d{4}/g, "${TIME}");
}

/** Two directories with the same files, of another time. */
function twins(root: string): readonly [string, string] {
  const make = (name: string, time: number): string => {
    const place = join(root, name);
    mkdirSync(join(place, "sub"), { recursive: true });
    writeFileSync(join(place, "a.txt"), "hello\n");
    symlinkSync("a.txt", join(place, "link"));
    for (const one of ["a.txt", "sub", "."]) utimesSync(join(place, one), time, time);
    return place;
  };
  return [make("one", 1_700_000_000), make("two", 1_600_000_000)];
}

test.each(["ls -la", "ls -lai", "ls -l", "stat a.txt", "date", "date -R", "{ time true; } 2>&1"])(
  "%s, really run twice, is no drift",
  (command) => {
    using directory = temporaryDirectory();
    const [one, two] = twins(directory.path);
    const first = bash(command, one);
    const stamp = /date/.test(command) ? bash(`${command} -d '2019-03-07 01:02:03'`, two) : bash(command, two);
    expect(compareTexts(withoutTimes(first), withoutTimes(stamp)).differences).toEqual([]);
  },
);

test("another file in a real listing is drift", () => {
  using directory = temporaryDirectory();
  const [one, two] = twins(directory.path);
  writeFileSync(join(two, "b.txt"), "hello\n");
  expect(compareTexts(bash("ls -la", one), bash("ls -la", two)).differences).toHaveLength(1);
});

test("a message means what it says: nothing of it varies by itself, but what the case names", () => {
  const [before, after] = ["Wait 1.5s, until 10:00:00.", "Wait 2.5s, until 11:00:00."];
  expect(compareTexts(before, after, { type: "text" }).differences).toHaveLength(1);
  const named = compareTexts(before, after, { type: "text", ignore: [/\d{1,2}[.:][\d:s]{1,10}/g] });
  expect(named.differences).toEqual([]);
  expect(named.ignored[0]?.kinds).toEqual(["named by the case"]);
});

test("no rule takes longer than reading the text, whatever the text is", () => {
  const nasty = [
    "-rw-r--r-- 1 a b 1",
    " ✓ x",
    "1m ",
    "Mon Nov 1 ",
    "/tmp/",
    "0.0user ",
    "real\t",
    "total 1\n",
    '" time="',
  ];
  for (const { pattern } of VARYING_RULES)
    for (const piece of nasty) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      expect(text.replace(pattern, "").length).toBeLessThanOrEqual(text.length);
    }
});
