import { describe, expect, test } from "vitest";
import { readCommands } from "../../../src/core/shell/read-commands.ts";
import { ATTEMPTS, ORDINARY } from "./commands.ts";
import { mayHide, commandTexts } from "./may-hide.ts";

test("the table is large, and half of it tries to slip past", () => {
  const lines = [...ORDINARY, ...ATTEMPTS].map(([line]) => line);
  expect(new Set(lines).size).toBe(lines.length);
  expect(ORDINARY.length).toBeGreaterThanOrEqual(150);
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(150);
});

describe.each([
  ["ordinary lines", ORDINARY],
  ["attempts to slip past a rule", ATTEMPTS],
])("%s", (_, rows) => {
  test.each(rows.map(([line, read, asks]) => ({ line, read, asks })))("$line", ({ line, read, asks }) => {
    const reading = readCommands(line);
    if (read === "unclear" || asks) expect(reading.unclear).not.toEqual([]);
    else
      expect({ unclear: reading.unclear, hides: mayHide(reading) }).toEqual({ unclear: [], hides: read === "option" });
    if (read !== "unclear" && read !== "option") expect(commandTexts(reading)).toEqual(read);
  });
});

test("every attempt either shows the program that it hides or is unclear", () => {
  const hidden = ATTEMPTS.filter(([line]) => {
    const reading = readCommands(line);
    return !mayHide(reading) && !reading.commands.some(({ words }) => /(?:^|\/)rm$/.test(words[0]?.text ?? ""));
  });
  // What make runs is up to make: a rule for it allows whatever it does.
  expect(hidden.map(([line]) => line)).toEqual(["make SHELL=/tmp/x"]);
});

test("every reason is a sentence", () => {
  for (const [line] of [...ORDINARY, ...ATTEMPTS])
    for (const reason of readCommands(line).unclear) expect(reason).toMatch(/^.+\.$/s);
});

test("a command says how it is reached, outermost first", () => {
  const { commands } = readCommands(`sudo env A=1 bash -c 'echo "$(rm x)"'`);
  expect(commands.find(({ words }) => words[0]?.text === "rm")).toEqual({
    words: [
      { text: "rm", dynamic: false },
      { text: "x", dynamic: false },
    ],
    assignments: [],
    via: ["sudo", "env", "bash -c", "$(…)"],
    effects: [],
  });
});

test("a command names the assignments before it, those of env and sudo too", () => {
  expect(readCommands("A=1 B=2 ls").commands[0]?.assignments).toEqual(["A", "B"]);
  expect(readCommands("env A=1 B=2 ls").commands[1]?.assignments).toEqual(["A", "B"]);
  expect(readCommands("sudo A=1 ls").commands[1]?.assignments).toEqual(["A"]);
});

test("a body of a function says which function it belongs to", () => {
  expect(readCommands("git() { rm x; }; git status").commands.map(({ via }) => via)).toEqual([["function git"], []]);
});

test("redirections name the files they write and read", () => {
  const { writes, reads } = readCommands(`sort < in.txt > "out 1" 2>> log; ls &> $x; cat <> both; ls >& c`);
  expect(writes).toEqual([
    { path: { text: "out 1", dynamic: false }, how: ">" },
    { path: { text: "log", dynamic: false }, how: ">>" },
    { path: { text: "$x", dynamic: true }, how: "&>" },
    { path: { text: "both", dynamic: false }, how: "<>" },
    { path: { text: "c", dynamic: false }, how: ">&" },
  ]);
  expect(reads).toEqual([
    { text: "in.txt", dynamic: false },
    { text: "both", dynamic: false },
  ]);
});

function effectsOf(line: string): string[] {
  return readCommands(line).commands.flatMap(({ effects }) => effects.map(({ option, does }) => `${option} ${does}`));
}

test("an option of git that writes a file is noted", () => {
  expect(effectsOf("git log --output=a")).toEqual(["--output writes a file"]);
  expect(effectsOf("git diff --outp b")).not.toEqual([]);
  expect(effectsOf("git archive -o x.tar HEAD")).toEqual(["-o writes a file"]);
  expect(effectsOf("git log -- --output=c")).toEqual([]);
  expect(effectsOf("git diff --output-indicator-new=x")).toEqual([]);
});

test("copies of descriptors and the null device are no files", () => {
  expect(readCommands("ls > /dev/null 2>&1 3>&- <&0; ls > /dev/stderr; ls > /dev/tty; ls > >(cat)").writes).toEqual([]);
  expect(readCommands("ls > '/dev/null '").writes).toHaveLength(1);
});

test.each([
  ["long", `echo ${"x".repeat(200_000)}`],
  ["deep subshells", `${"(".repeat(20_000)}ls${")".repeat(20_000)}`],
  ["deep substitutions", `${"$(".repeat(20_000)}ls${")".repeat(20_000)}`],
  ["deep quotes", `${'echo "$('.repeat(5000)}ls${')"'.repeat(5000)}`],
  ["deep parameters", `echo ${"${x:-".repeat(10_000)}$(rm x)${"}".repeat(10_000)}`],
  ["deep arithmetic", `echo $((${"(".repeat(20_000)}1${")".repeat(20_000)}))`],
  ["a long sum", `echo $((${"1+".repeat(40_000)}x))`],
  [
    "deep shells",
    Array.from({ length: 40 }).reduce<string>((inner) => `eval ${JSON.stringify(inner)}`.slice(0, 90_000), "rm x"),
  ],
  ["deep groups", `${"{ ".repeat(10_000)}ls${"; }".repeat(10_000)}`],
  ["deep conditions", `${"if ls; then ".repeat(3000)}rm x${"; fi".repeat(3000)}`],
  ["open quotes", '"'.repeat(9999)],
  ["open backticks", "`".repeat(9999)],
  ["open heredocs", "<<E ".repeat(5000)],
  ["deep tests", `[[ ${"( ".repeat(10_000)}x${" )".repeat(10_000)} ]]`],
])("absurd input is unclear and ends: %s", (_, line) => {
  expect(readCommands(line).unclear).not.toEqual([]);
});
