import { describe, expect, test } from "vitest";
import { recognise } from "../../../src/core/shell/grammar/recognise.ts";
import { readCommands } from "../../../src/core/shell/read-commands.ts";
import { EVERYDAY } from "./commands/everyday.ts";

test("nearly all that agents run every day can be allowed by rules", () => {
  const asked = EVERYDAY.filter((line) => readCommands(line).unclear.length > 0);
  expect(new Set(EVERYDAY).size).toBe(EVERYDAY.length);
  expect(asked.length / EVERYDAY.length).toBeLessThan(0.06);
});

/** What is refused, and how the reason names it. */
const REFUSED: readonly [line: string, named: string, character: number | "end"][] = [
  ["ls <(ls)", "process substitution `<(…)`", 4],
  ["ls > >(cat)", "process substitution `>(…)`", 6],
  ["echo `ls`", "backquotes", 6],
  ['echo "`ls`"', "backquotes", 7],
  ["echo ${x:-a}", "`${x:…}`", 6],
  ['echo "${x[0]}"', "`${x[…}`", 7],
  ["echo ${#x}", "`${#…}`", 6],
  ["echo ${!x}", "`${!…}`", 6],
  ["echo $((1))", "arithmetic `$((…))`", 6],
  ["((x))", "arithmetic `((…))`", 1],
  ["for ((;;)); do ls; done", "`for ((…))`", 5],
  ["echo $'a'", "`$'`", 6],
  ['echo $"a"', '`$"`', 6],
  ["f() { ls; }", "the function `f()`", 1],
  ["function f { ls; }", "functions", 1],
  ["a=(1 2)", "the array `a=(…)`", 1],
  ["a+=1", "`+=` and arrays", 1],
  ["a[0]=1", "`+=` and arrays", 1],
  ["case x in x) ls;; esac", "`case`", 1],
  ["select x in a; do ls; done", "`select`", 1],
  ["coproc ls", "`coproc`", 1],
  ["[[ -f x ]]", "`[[ … ]]`; use `[ … ]`", 1],
  ["ls {x}>f", '`>` directly after "{x}"', 7],
  ["ls 12>f", '`>` directly after "12"', 6],
  ["ls <> f", "`<>`", 4],
  ["ls <&3", "`<&`", 4],
  ["ls >& f", "`>&` other than `>&1` or `>&-`", 4],
  ["ls > /dev/tcp/a/1", "a redirection to the network", 4],
  ["cat <<E\n$x\nE", "`$`, backquotes and backslashes in a here-document, unless its end is quoted as in 'E'", 7],
  ["cat <<'A' <<'B'\nA\nB", "two here-documents on a line", 11],
  ["cat <<'E'\nx", "a here-document without its end, E", 7],
  ["ls;#x", "`#` here", 4],
  ["ls 'a'#x", "`#` here", 7],
  ["ls # x \\\nrm y", "a comment that ends with a backslash", 9],
  ["echo $(ls # x\n)", "a comment in `$(…)`", 11],
  ["ls @(a)", "`(` after a word", 4],
  ["ls a\\\nb", "this use of a backslash", 5],
  ["echo ~root", "`~` other than `~/`", 7],
  ["echo 'a", "an open quote", 6],
  ["echo naïve", '"ï" outside quotes', 8],
  ["echo a[x", "`[` in a word, except for a class such as `[a-z]`", 7],
  ["echo {a,{b,c}}", "`{` in a word, except for a list such as `{a,b}`", 6],
  ["ls ;; ls", "`;;` or `;&`", 4],
  ["ls &&", "a missing command", "end"],
  ["(ls", "a missing `)`", "end"],
  ["if ls; then ls", "a missing `fi`", "end"],
];

describe("a line outside the grammar", () => {
  test.each(REFUSED)("%j: %s", (line, named, character) => {
    const place = character === "end" ? "at the end" : `at character ${character}`;
    expect(recognise(line)).toEqual({ refused: `Allow rules do not support ${named} (${place}).` });
  });
});

test("what the parser and the grammar read differently asks", () => {
  // The parser takes the text after the substitution for a comment; bash does not.
  const { unclear } = readCommands("ls <(ls)#x; touch P");
  expect(unclear).not.toEqual([]);
});

test("text inside a line that a shell will run has to keep to the grammar, too", () => {
  expect(readCommands("bash -c 'ls <(ls)'").unclear).toEqual([
    'In "ls <(ls)": Allow rules do not support process substitution `<(…)` (at character 4).',
  ]);
});
