import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readCommands } from "../../../src/core/shell/read-commands.ts";

const NAMES = ["rm x", "rm -rf /", "\\rm x", "'rm' x", "/bin/rm x", 'r"m" x', "r\\\nm x"];
const ALLOWED = [
  "git status",
  "ls",
  "echo 'a; b'",
  'echo "$x"',
  "cat <<E\nx\nE\n:",
  "npm test # x\n:",
  "x=1",
  "[[ -f x ]]",
  "echo a\\;b",
];

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const double = (text: string): string => `"${text.replaceAll(/[\\"$`]/g, "\\$&")}"`;

/** Ways to put a command where it runs; each keeps it running for at least one outcome of what stands before. */
const PLACES: readonly ((denied: string, allowed: string) => string)[] = [
  (denied, allowed) => `${allowed}; ${denied}`,
  (denied, allowed) => `${denied}; ${allowed}`,
  (denied, allowed) => `${allowed} && ${denied}`,
  (denied, allowed) => `${allowed} || ${denied}`,
  (denied, allowed) => `${denied} | ${allowed}`,
  (denied, allowed) => `${allowed} |& ${denied}`,
  (denied, allowed) => `${allowed} & ${denied}`,
  (denied, allowed) => `${allowed}\n${denied}`,
  (denied) => `(${denied})`,
  (denied) => `{ ${denied}\n}`,
  (denied) => `! ${denied}`,
  (denied) => `echo $(${denied}\n)`,
  (denied) => `echo "a $(${denied}\n) b"`,
  (denied) => `echo \`${denied.replaceAll(/[\\`$]/g, "\\$&")}\``,
  (denied) => `cat <(${denied}\n)`,
  (denied) => `ls > >(${denied}\n)`,
  (denied) => `x=$(${denied}\n)`,
  (denied) => `echo "\${x:-$(${denied}\n)}"`,
  (denied) => `cat <<END\n$(${denied}\n)\nEND\n`,
  (denied, allowed) => `if ${allowed}\nthen ${denied}\nfi`,
  (denied, allowed) => `while ${denied}\ndo ${allowed}\nbreak\ndone`,
  (denied) => `for i in a; do ${denied}\ndone`,
  (denied) => `case x in x) ${denied}\n;; esac`,
  (denied) => `f() { ${denied}\n}; f`,
  (denied) => `bash -c ${single(denied)}`,
  (denied) => `sh -c ${double(denied)}`,
  (denied) => `eval ${single(denied)}`,
  (denied) => `sudo -n bash -c ${single(denied)}`,
  (denied) => `env A=1 sh -c ${single(denied)}`,
  (denied) => `ls | xargs sh -c ${single(denied)}`,
  (denied) => `find . -exec sh -c ${single(denied)} \\;`,
  (denied) => `timeout 5 nice bash -c ${double(denied)}`,
  (denied) => `trap ${single(denied)} EXIT`,
  (denied) => `git bisect run sh -c ${single(denied)}`,
];

const composed = fc
  .tuple(
    fc.constantFrom(...NAMES),
    fc.array(fc.tuple(fc.nat(PLACES.length - 1), fc.constantFrom(...ALLOWED)), { maxLength: 5 }),
  )
  .map(([name, steps]) => steps.reduce((line, [place, allowed]) => PLACES[place]?.(line, allowed) ?? line, name));

test("no composition hides a program", () => {
  fc.assert(
    fc.property(composed, (line) => {
      const { commands, unclear } = readCommands(line);
      const seen = commands.some(
        ({ words }) => /(?:^|\/)rm$/.test(words[0]?.text ?? "") && words[0]?.dynamic === false,
      );
      expect(seen || unclear.length > 0).toBe(true);
    }),
    { numRuns: 4000 },
  );
});

test("most compositions are understood, not just refused", () => {
  const lines = fc.sample(composed, { numRuns: 500, seed: 1 });
  const clear = lines.filter((line) => readCommands(line).unclear.length === 0);
  expect(clear.length).toBeGreaterThan(200);
});

const TOKENS =
  `; && || | & |& ( ) { } $( ) \` " ' \\ <( >( << <<- <<< < > >> >& &> $ \${ $(( )) (( [[ ]] ! time if then else elif fi for in do done
  while until case esac ;; ;& select function coproc f() x= a=( [ ] {a,b} * ? ~ $' $" $x "$x" 2>&1 # E rm ls git env sudo bash -c eval xargs -I{} find -exec {} \\; + exec
  trap sed tar -I %`.split(/\s+/);
const soup = fc
  .array(fc.tuple(fc.constantFrom(...TOKENS), fc.constantFrom("", " ", " ", "\n", "\t")), { maxLength: 40 })
  .map((tokens) => tokens.flat().join(""));

test("reading never throws, whatever the line", () => {
  fc.assert(
    fc.property(
      fc.oneof(soup, fc.string({ unit: "binary", maxLength: 200 }), fc.string({ maxLength: 200 })),
      (line) => {
        const { commands, unclear } = readCommands(line);
        for (const { words } of commands) expect(words.length).toBeGreaterThan(0);
        for (const reason of unclear) expect(reason).not.toBe("");
      },
    ),
    { numRuns: 4000 },
  );
});

test("what a reading says does not depend on what was read before", () => {
  fc.assert(
    fc.property(soup, soup, (first, second) => {
      const alone = readCommands(second);
      readCommands(first);
      expect(readCommands(second)).toEqual(alone);
    }),
    { numRuns: 300 },
  );
});
