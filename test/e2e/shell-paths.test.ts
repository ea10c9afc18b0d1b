import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { subjectOf } from "../../src/runtime/subject/call-subject.ts";
import { Random } from "../support/shell-fuzz/random.ts";

const PIECES =
  'a b s e src sec secrets / / . .. - key a.ts * ? s* *.ts [a-s]* [!a]* ** {a,b} {src,secrets} {1..3} {a,} \'q*\' "s*" $x ${y} "$z" \\* .* ~/ x=~/ .h* ='.split(
    " ",
  ) as [string, ...string[]];
const FILES = [
  "a",
  "b",
  "a1",
  "a2",
  "src/a.ts",
  "src/key",
  "secrets/key",
  "secrets/a.ts",
  ".hidden/key",
  ".h",
  "q*",
  "s*x",
  "home/key",
];
const WORDS = 2_000;

test("every file that a word names in bash is among those that rules look at", () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "shell-words-")));
  const home = join(cwd, "home");
  for (const file of FILES) {
    mkdirSync(join(cwd, file, ".."), { recursive: true });
    writeFileSync(join(cwd, file), "");
  }
  const random = new Random(7);
  const lines = Array.from({ length: WORDS }, () => {
    const word = Array.from({ length: 1 + random.below(5) }, () => random.pick(PIECES)).join("");
    return { word, set: `x=sec; y='s*'; z=${random.pick(["src", "$x", "a*", "'b c'"])};` };
  }).filter(({ word, set }) => about(`${set} cat ${word}`).unclear.length === 0);
  const script = lines.map(({ word, set }) => `${set} printf '%s\\0' ${word}; printf '\\n\\0'`).join("\n");
  const output = execFileSync("bash", [], {
    input: script,
    cwd,
    env: { HOME: home, PATH: "/usr/bin:/bin" },
    encoding: "utf8",
  });
  const results = output.split("\n\0").map((one) => one.split("\0").filter((text) => text !== ""));
  let [found, known] = [0, 0];
  for (const [index, { word, set }] of lines.entries()) {
    const { mentions, vague = [] } = about(`${set} cat ${word}`);
    if (vague.length > 0) continue;
    known += 1;
    const named = new Set(mentions.map((place) => place.named));
    for (const text of results[index] ?? []) {
      const path = resolve(cwd, text);
      if (text.startsWith("-") || !existsSync(path)) continue;
      found += 1;
      expect({ word, set, path, isNamed: named.has(path) }).toEqual({ word, set, path, isNamed: true });
    }
  }
  rmSync(cwd, { recursive: true });
  expect(lines.length).toBeGreaterThan(WORDS / 3);
  expect(known).toBeGreaterThan(lines.length / 2);
  expect(found).toBeGreaterThan(500);

  function about(command: string): NonNullable<ReturnType<typeof subjectOf>["shell"]> {
    const { shell } = subjectOf({ tool: "Bash", input: { command } }, { cwd, home });
    if (shell === undefined) throw new Error(`no reading of ${command}`);
    return shell;
  }
});
