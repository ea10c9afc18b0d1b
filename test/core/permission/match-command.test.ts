import { describe, expect, test } from "vitest";
import { commandOf, matchCommand, parseCommandPattern } from "../../../src/core/rules/match-command.ts";
import { readCommands } from "../../../src/core/shell/read-commands.ts";

function match(pattern: string, line: string, reading: "allow" | "restrict"): string {
  const parsed = parseCommandPattern(pattern);
  if (typeof parsed === "string") throw new Error(parsed);
  const [command] = readCommands(line).commands;
  return matchCommand(parsed, commandOf(command?.words ?? []), reading);
}

/** pattern, command, what an allowing rule finds, what a restricting one finds */
const TABLE: readonly [pattern: string, line: string, allow: string, restrict: string][] = [
  ["git status", "git status", "yes", "yes"],
  ["git status", "git status -s", "no", "no"],
  ["git status", "git", "no", "no"],
  ["git status", "git  'status'", "yes", "yes"],
  ["npm run *", "npm run", "yes", "yes"],
  ["npm run *", "npm run a b", "yes", "yes"],
  ["npm run *", "npm runs", "no", "no"],
  ["npm run:*", "npm run a b", "yes", "yes"],
  ["npm run:*", "npm run:a", "no", "no"],
  ["git * main", "git push main", "yes", "yes"],
  ["git * main", "git push origin main", "yes", "yes"],
  ["git * main", "git main", "no", "no"],
  ["* --version", "node --version", "yes", "yes"],
  ["* --version", "--version", "no", "no"],
  ["npm run test-*", "npm run test-a", "yes", "yes"],
  ["npm run test-*", "npm run test-a b", "no", "no"],
  ["cat *.ts", "cat 'a b.ts'", "yes", "yes"],
  ["echo '*'", "echo '*'", "yes", "yes"],
  ["echo '*'", "echo a", "no", "no"],
  [String.raw`echo \*`, "echo '*'", "yes", "yes"],
  ['git commit -m "a b"', "git commit -m 'a b'", "yes", "yes"],
  // A program is what it is called in an allowing rule, and wherever it lies in a restricting one.
  ["rm *", "/bin/rm -rf x", "no", "yes"],
  ["rm *", "RM -rf x", "no", "yes"],
  ["rm *", String.raw`\rm -rf x`, "yes", "yes"],
  ["/bin/rm *", "rm x", "no", "yes"],
  ["./build.sh", "./build.sh", "yes", "yes"],
  ["./build.sh", "/tmp/build.sh", "no", "yes"],
  // What is only known when it runs is covered by a star that stands for words, and may be anything.
  ["ls *", "ls $X", "yes", "yes"],
  ["ls -l", "ls $X", "no", "maybe"],
  ["rm -rf *", "rm $X", "no", "maybe"],
  ["rm -rf *", "rm $X -rf y", "no", "maybe"],
  ["rm -rf *", "rm -r $X", "no", "no"],
  ["rm -rf *", "echo $X", "no", "no"],
  ["cat *.ts", "cat $X", "no", "maybe"],
  ["git push --force *", "git $X --force", "no", "maybe"],
  ["rm *", "$X a", "no", "maybe"],
  ["rm *", "ls *.ts", "no", "no"],
];

describe("a command pattern", () => {
  test.each(TABLE)("%s and the command %s", (pattern, line, allow, restrict) => {
    expect(match(pattern, line, "allow")).toBe(allow);
    expect(match(pattern, line, "restrict")).toBe(restrict);
  });

  test("with many stars is matched in no time, whatever the command", () => {
    const pattern = `a ${"*b ".repeat(20)}c`;
    expect(match(pattern, `a ${"b".repeat(5_000)}`, "allow")).toBe("no");
    expect(match(`a ${"* b ".repeat(20)}c`, `a ${"b ".repeat(2_000)}`, "allow")).toBe("no");
    expect(match(`a ${"* b ".repeat(20)}c`, `a $X ${"b ".repeat(2_000)}`, "restrict")).toBe("no");
    expect(match(`cat ${"*a".repeat(30)}`, `cat ${"a".repeat(20_000)}b`, "allow")).toBe("no");
  });
});
