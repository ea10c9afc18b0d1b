import * as fc from "fast-check";

/** Random lines of shell, most of them valid, some damaged, for comparing a reading with what bash does. */
const PROGRAMS = ["ls", "rm", "git", "cat", "evil"];
const WORDS = ["x", "'a b'", '"$x"', "*.ts", "a\\ b", "$'\\t'", "-r", "''", "{a,b}", "~", "a=b", "\\;"];
const DAMAGE =
  `; && | & ( ) { } $( \` " ' \\ <( << <<E > < # $ \${x:- $(( )) [[ ! time then fi do done ;; esac f() x= a=( [ ] * $' $" 2>&1 \n E \\\n env sudo eval`.split(
    " ",
  );

const simple = fc
  .tuple(fc.constantFrom(...PROGRAMS), fc.array(fc.constantFrom(...WORDS), { maxLength: 3 }))
  .map((words) => words.flat().join(" "));

const single = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const backticks = (text: string): string => `\`${text.replaceAll(/[\\`$]/g, "\\$&")}\``;

const valid = fc.letrec<{ line: string }>((tie) => {
  const two = fc.tuple(tie("line"), tie("line"));
  const one = tie("line");
  return {
    line: fc.oneof(
      { maxDepth: 4, depthSize: "small", withCrossShrink: true },
      simple,
      fc
        .tuple(two, fc.constantFrom("; ", " | ", " && ", " || ", " & ", "\n", " |& "))
        .map(([[a, b], by]) => a + by + b),
      one.map((a) => `(${a})`),
      one.map((a) => `{ ${a}; }`),
      one.map((a) => `! ${a}`),
      one.map((a) => `echo "$(${a})"`),
      one.map((a) => `echo ${backticks(a)}`),
      one.map((a) => `cat <(${a})`),
      one.map((a) => `echo \${x:-$(${a})}`),
      one.map((a) => `bash -c ${single(a)}`),
      one.map((a) => `eval ${single(a)}`),
      two.map(([a, b]) => `cat <<E\n$(${a})\nE\n${b}`),
      two.map(([a, b]) => `cat <<'E'\n${a}\nE\n${b}`),
      two.map(([a, b]) => `if ${a}; then ${b}; fi`),
      two.map(([a, b]) => `case x in x) ${a};; *) ${b};; esac`),
      one.map((a) => `for i in a b; do ${a}; done`),
      one.map((a) => `[[ x == x && -n "$(${a})" ]]`),
      one.map((a) => `f() { ${a}; }; f`),
    ),
  };
}).line;

const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.option(fc.constantFrom(...DAMAGE))), {
  maxLength: 3,
});

/** Puts something in, or takes a character out, at some places. */
export const mixedLine: fc.Arbitrary<string> = fc.tuple(valid, damage).map(([line, places]) =>
  places.reduce((text, [where, piece]) => {
    const at = Math.floor(where * text.length);
    return piece === null ? text.slice(0, at) + text.slice(at + 1) : text.slice(0, at) + piece + text.slice(at);
  }, line),
);
