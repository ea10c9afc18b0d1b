import type { Writer } from "./generate.ts";

/** What random lines consist of: plain constructs, and those that parsers and shells get wrong. */
type Make = (writer: Writer) => string;
export type Table = readonly [readonly [name: string, make: Make], ...(readonly [name: string, make: Make])[]];

export const STATEMENTS: Table = [
  ["subshell", (w) => `(${w.list()}${w.flush()})`],
  ["group", (w) => `{ ${w.list()}${w.flush()}\n}`],
  ["if", (w) => `if ${w.statement()}${w.flush()}; then ${w.list()}${w.flush()}\nelse ${w.simple()}${w.flush()}\nfi`],
  ["while", (w) => `while ${w.simple()}${w.flush()}\ndo ${w.list()}${w.flush()}\nbreak; done`],
  ["until", (w) => `until ${w.simple()}${w.flush()}\ndo ${w.list()}${w.flush()}\nbreak; done`],
  ["for", (w) => `for ${w.name()} in ${w.word()} ${w.word()}; do ${w.list()}${w.flush()}\ndone`],
  ["not", (w) => `! ${w.simple()}`],
  ["time", (w) => `time ${w.simple()}`],
  ["assignment", (w) => `${w.name()}=${w.word()}`],
  ["redirected group", (w) => `{ ${w.simple()}${w.flush()}\n} ${w.redirection()}`],
];

export const ODD_STATEMENTS: Table = [
  ["case", (w) => `case ${w.word()} in ${w.word()}) ${w.list()}${w.flush()};; *) ${w.simple()}${w.flush()};; esac`],
  ["select", (w) => `select x in ${w.word()}; do ${w.list()}${w.flush()}; break; done`],
  ["function", (w) => `f() { ${w.writeHidden()}\n}; f`],
  ["function keyword", (w) => `function ls { ${w.writeHidden()}\n}; ls`],
  ["[[ ]]", (w) => `[[ ${w.word()} ${w.random.pick(["==", "=~", "-eq", "<", "-nt"])} ${w.word()} ]]`],
  ["[[ -v ]]", (w) => `[[ -v ${w.word()} ]]`],
  ["(( ))", (w) => `(( ${w.word()} ))`],
  ["for (( ))", (w) => `for ((${w.name()}=${w.word()}; 0; )); do a; done`],
  ["coproc", (w) => `coproc ${w.writeHidden()}`],
  ["array", (w) => `${w.name()}=(${w.word()} [$(${w.writeHidden()})]=1)`],
  ["array element", (w) => `${w.name()}[${w.word()}]=${w.word()}`],
  ["append", (w) => `${w.name()}+=${w.word()}`],
  ["subscript in a variable", (w) => `x='a[$(evil)]'; ${w.simple()}`],
  ["time -p", (w) => `time -p -- ${w.simple()}`],
  ["double not", (w) => `! ! ${w.simple()}`],
  ["no command", () => "$x"],
  ["hidden command", (w) => `${w.word()} ${w.word()}`],
];

export const PIECES: Table = [
  [
    "single quotes",
    (w) => w.single(w.random.pick(["a b", "$(evil)", "`evil`", ";evil;", "x\ny", '"', "\\", "#", "é", "!"])),
  ],
  [
    "double quotes",
    (w) =>
      `"${w.random.pick(["a b", "$x", "${x}", "a\\$x", "x\\\\", 'q\\"q', "a'b", ";evil", "x\ny", "é", "a$", "$ x", "\\`evil\\`"])}"`,
  ],
  ["backslash", (w) => `\\${w.random.pick([";", " ", "$", "*", "'", '"', "\\", "&", "(", "#", "a", "`", "<"])}`],
  ["variable", (w) => w.random.pick(["$x", "${x}", "$1", "$?", "$@", "$#", '"$@"', "$x$y"])],
  ["glob", (w) => w.random.pick(["*", "?", "*.ts", "[ab]", "[a-z]*", "[!a]"])],
  ["braces", (w) => w.random.pick(["{a,b}", "{1..3}", "{a,}", "{}"])],
  ["tilde", (w) => w.random.pick(["~", "~/x", "x=~/y"])],
  ["$( )", (w) => w.deeper(() => `$(${w.list()}${w.flush()}\n)`, "$(a)")],
  ['"$( )"', (w) => w.deeper(() => `"$(${w.simple()}${w.flush()}\n)"`, '"$(a)"')],
];

export const ODD_PIECES: Table = [
  ["default", (w) => `\${x:-${w.deeper(() => w.word(), "a")}}`],
  ["quoted default", (w) => `"\${x:-${w.deeper(() => w.word(), "a")}}"`],
  ["quotes in a default", () => "\"${x:-'$(evil)'}\""],
  ["$' in a default", () => "\"${x:-$'$(evil)'}\""],
  ["assigned default", (w) => `\${x:=${w.deeper(() => w.word(), "a")}}`],
  ["replacement", (w) => `\${x//a/${w.deeper(() => w.word(), "a")}}`],
  ["removal", (w) => `\${x#${w.deeper(() => w.word(), "a")}}`],
  ["slice", (w) => `\${x:${w.deeper(() => w.word(), "1")}}`],
  ["element", (w) => `\${x[${w.deeper(() => w.word(), "0")}]}`],
  ["indirection", () => "${!x}"],
  ["transformation", () => "${x@P}"],
  ["backquotes", (w) => `\`${w.writeHidden()}\``],
  ["quoted backquotes", (w) => `"\`${w.writeHidden()}\`"`],
  ["arithmetic", (w) => `$((${w.deeper(() => w.word(), "1")}))`],
  ["old arithmetic", (w) => `$[${w.deeper(() => w.word(), "1")}]`],
  ["process substitution", (w) => `<(${w.writeHidden()}\n)`],
  ["output substitution", (w) => `>(${w.writeHidden()}\n)`],
  ["# after a substitution", () => "<(a)#x"],
  ["ANSI quotes", (w) => w.random.pick(["$'a'", "$'\\''", "$'\\x27$(evil)'", "$'\\n'", "$'\\\\'"])],
  ["locale quotes", (w) => `$"${w.random.pick(["a", "$(evil)", "`evil`"])}"`],
  ["extglob", (w) => w.random.pick(["@(a|b)", "!(x)", "+(a)", "?(evil)", "*($(evil))"])],
  ["braces with commands", () => "{a,$(evil)}"],
  ["class with quotes", () => "['$(evil)']"],
  ["user's home", () => "~root"],
  ["history", (w) => w.random.pick(["!!", "!evil", '"!x"', "^a^b"])],
  ["continuation", () => "a\\\nb"],
  ["comment in a word", () => "''#x"],
  ["odd character", (w) => w.random.pick(["\u00e9", "\u00a0", "\u0001", "\r", "\u2028", "\u00a0;evil", "\u0085"])],
  ["case in $( )", () => "$(case x in x) evil;; esac)"],
  [
    "here-document in $( )",
    (w) =>
      `$(cat <<${w.random.pick(["E", "'E'"])}\n${w.random.pick(["x", "$(evil)", "')"])}\nE\n${w.random.pick(["", "b; a", "evil"])})`,
  ],
  ["subshell in $( )", (w) => `$( (${w.writeHidden()}\n) )`],
  ["$(<file)", () => "$(<f)"],
];

export const REDIRECTIONS: Table = [
  [">", (w) => w.random.pick(["> f", ">f", "2>g", ">> f", "2> /dev/null", ">| f"])],
  ["<", (w) => w.random.pick(["< f", "</dev/null"])],
  [">&", (w) => w.random.pick(["2>&1", ">&2", "2>&-"])],
  ["&>", (w) => w.random.pick(["&> f", "&>> g"])],
  ["<<<", (w) => `<<< ${w.random.pick(["x", "'a b'", '"$x"'])}`],
  [
    "<<'E'",
    (w) => (
      w.body(`${w.random.pick(["text", "$(evil)", "`evil`", "it's", "E x", "\\"])}\nE`),
      w.random.pick(["<<'E'", '<<"E"', "<< 'E'"])
    ),
  ],
  ["<<E plain", (w) => (w.body("text 'x \" #\nE"), "<<E")],
  ["<<-'E'", (w) => (w.body("\tx\n\tE"), "<<-'E'")],
];

export const ODD_REDIRECTIONS: Table = [
  [
    "<<E",
    (w) => (
      w.body(`${w.random.pick(["$x", "$(evil)", "`evil`", "${x:-'$(evil)'}", "\\$(evil)", "$((1))", "a\\\nE"])}\nE`),
      "<<E"
    ),
  ],
  ["<<\\E", (w) => (w.body("$(evil)\nE"), "<<\\E")],
  ["<<E''", (w) => (w.body("$(evil)\nEOF"), "<<E''OF")],
  ["<<$x", (w) => (w.body("a\n$x\nevil"), "<<$x")],
  ["<< without end", (w) => (w.body("a"), "<<E")],
  ["<< with an early end", (w) => (w.body("a\nE\nevil\nE"), "<<'E'")],
  ["{fd}>", (w) => w.random.pick(["{x}>f", "{x}<f", "{PATH}>f", "{a,b}>f"])],
  ["{fd[$( )]}<", (w) => w.random.pick(["{y['$(evil)']}</dev/null", "{y[x]}</dev/null", "{y[$(evil)]}>f"])],
  ["> variable", (w) => w.random.pick(['> "$x"', "> $x", ">> ~/f", "> f$x"])],
  [">&file", (w) => w.random.pick([">& f", ">&f", ">&$x", "<&3", "3<>f", "<> f", "2>&1-"])],
  ["many digits", (w) => w.random.pick(["12>f", "1 >f", "a2>f", "2>f>g", "01>f"])],
  ["> substitution", (w) => `> >(${w.writeHidden()}\n)`],
  ["< substitution", (w) => `< <(${w.writeHidden()}\n)`],
  ["network", () => "> /dev/tcp/127.0.0.1/1"],
  ["<<< substitution", (w) => `<<< $(${w.writeHidden()}\n)`],
];

const SUBSCRIPTS = ["'a[$(evil)]'", "a[x]", '"a[$x]"', "x", "$x", "x=1", "'x[0]=$(evil)'"] as const;

export const BUILTINS: Table = [
  ["eval", (w) => `eval ${w.single(w.writeHidden())}`],
  ["eval words", (w) => `eval ${w.word()} ${w.word()}`],
  [
    "test -v",
    (w) =>
      w.random
        .pick(["[ -v %s ]", "test -v %s", "[ %s ]", "test -n x -a -v %s"])
        .replace("%s", () => w.random.pick(SUBSCRIPTS)),
  ],
  ["read", (w) => `read -r ${w.random.pick(SUBSCRIPTS)} <<< ${w.word()}`],
  ["printf -v", (w) => `printf ${w.random.pick(["-v ", "-v", "%s ", "%d "])}${w.random.pick(SUBSCRIPTS)} y`],
  [
    "declare",
    (w) =>
      `${w.random.pick(["declare", "export", "readonly", "typeset", "declare -i", "declare -n", "declare -a"])} ${w.random.pick(SUBSCRIPTS)}`,
  ],
  ["unset", (w) => `unset ${w.random.pick(SUBSCRIPTS)}`],
  ["let", (w) => `let ${w.random.pick(SUBSCRIPTS)}`],
  ["mapfile -C", (w) => `mapfile ${w.random.pick(["-C evil -c 1 ", "-t ", ""])}${w.random.pick(SUBSCRIPTS)} <<< x`],
  ["wait -p", (w) => `wait ${w.random.pick(["-n -p ", ""])}${w.random.pick(SUBSCRIPTS)}`],
  ["getopts", (w) => `getopts a ${w.random.pick(SUBSCRIPTS)}`],
  ["trap", (w) => `trap ${w.single(w.writeHidden())} ${w.random.pick(["EXIT", "DEBUG", "0", "ERR"])}`],
  [
    "set",
    (w) =>
      `set ${w.random.pick(["-k", "-x", "-e", "-o posix", "-o history", "-H", "-f", "--", "-o pipefail"])} ${w.random.chance(0.3) ? w.word() : ""}`,
  ],
  [
    "shopt",
    (w) => `shopt -s ${w.random.pick(["extglob", "expand_aliases", "nullglob", "extquote", "assoc_expand_once"])}`,
  ],
  ["alias", (w) => `alias a=${w.single(w.writeHidden())}`],
  ["hash -p", () => "hash -p /box/bin/evil a"],
  ["exec", (w) => `exec ${w.random.pick(["evil", "a", "3>f", "-a x evil"])}`],
  [
    "command",
    (w) => `${w.random.pick(["command", "builtin", "command -p", "builtin eval", "command eval"])} ${w.word()}`,
  ],
  ["source", (w) => `${w.random.pick(["source", "."])} ${w.random.pick(["<(echo evil)", "/dev/stdin <<< evil", "f"])}`],
  ["PS4", () => "PS4='$(evil)'; set -x; a"],
  ["IFS", (w) => `IFS=x; ${w.simple()}`],
  ["BASH_ENV", (w) => `BASH_ENV=f ${w.simple()}`],
  ["compgen", () => "compgen -C evil"],
  ["jobs -x", () => "jobs -x evil"],
  ["history", () => "history -s evil; fc -s"],
  ["enable", () => "enable -n echo; echo x"],
  ["cd", (w) => `cd ${w.random.pick(["/tmp", "-", "..", "~"])}; a > f`],
];
