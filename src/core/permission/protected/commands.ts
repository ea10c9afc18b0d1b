import type { ShellWord } from "../../shell/read-commands.ts";

/** Knowledge about common programs: which only read, and which write configuration without naming the file. */

/** Programs that write nothing, with the options that make them write or run something else. */
const READ_ONLY: Readonly<Record<string, RegExp | undefined>> = {
  "[": undefined,
  basename: undefined,
  cat: undefined,
  cd: undefined,
  cmp: undefined,
  comm: undefined,
  cut: undefined,
  df: undefined,
  diff: /^--output|^-[a-zA-Z]*o/,
  dirname: undefined,
  du: undefined,
  echo: undefined,
  egrep: undefined,
  false: undefined,
  fgrep: undefined,
  file: /^-[a-zA-Z]*C|^--compile/,
  find: /^-(?:delete|exec|execdir|ok|okdir|fls|fprint|fprint0|fprintf)$/,
  grep: undefined,
  head: undefined,
  ls: undefined,
  md5sum: undefined,
  nl: undefined,
  od: undefined,
  popd: undefined,
  printf: /^-v/,
  pushd: undefined,
  pwd: undefined,
  readlink: undefined,
  realpath: undefined,
  rg: /^--(?:pre|hostname-bin)/,
  sha1sum: undefined,
  sha256sum: undefined,
  stat: undefined,
  tail: undefined,
  test: undefined,
  tree: /^-[a-zA-Z]*o|^--output/,
  true: undefined,
  type: undefined,
  wc: undefined,
  which: undefined,
};

/** Git commands that only read. Options that write a file are in the table of options that act. */
const GIT_READS =
  /^(?:blame|cat-file|check-attr|check-ignore|describe|diff|grep|log|ls-files|ls-tree|merge-base|name-rev|rev-list|rev-parse|shortlog|show|show-ref|status|version|whatchanged)$/;

/** Whether a command writes nothing, whatever paths it names, as long as none of its options acts. */
export function onlyReads(words: readonly ShellWord[]): boolean {
  const [program, ...rest] = words;
  if (program === undefined || program.dynamic) return false;
  const name = nameOf(program.text);
  if (name === "git") {
    const { command, options } = gitCommand(rest);
    return command !== undefined && options.length === 0 && GIT_READS.test(command);
  }
  if (!Object.hasOwn(READ_ONLY, name)) return false;
  const writes = READ_ONLY[name];
  return (
    writes === undefined || rest.every(({ text, dynamic }) => !writes.test(text) && !(dynamic && maybeOption(text)))
  );
}

/** Whether it could turn out to be an option. */
function maybeOption(text: string): boolean {
  return /^["']?[-$`]/.test(text);
}

/** What a command configures without naming a file, as a sentence; undefined if nothing. */
export function configures(words: readonly ShellWord[]): string | undefined {
  const [program, ...rest] = words;
  if (program === undefined || program.dynamic) return undefined;
  const name = nameOf(program.text);
  const texts = rest.map(({ text }) => text);
  if (name === "git") return configuresGit(rest);
  const ran = RUNNERS.test(name) ? texts.findIndex(isCapstan) : -1;
  if (isCapstan(program.text)) return configuresCapstan(texts);
  if (ran >= 0) return configuresCapstan(texts.slice(ran + 1));
  const plain = texts.filter((text) => !text.startsWith("-"));
  const [command = "", action = ""] = plain;
  return OTHERS.find(({ programs, words: pattern }) => programs.test(name) && pattern.test(`${command} ${action} `))
    ?.what;
}

/** Programs that run what one of their arguments names. */
const RUNNERS = /^(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|node|tsx|sh|bash|dash|zsh|sudo|env|exec|command)$/;

function isCapstan(text: string): boolean {
  return /^capstan(?:@.*|\.[cm]?[jt]s)?$/.test(nameOf(text));
}

/** What an agent may run without approval. Everything else shows or changes how it is supervised. */
const CAPSTAN_HELP = /^(?:--version|-V|--help|-h|help|schema|validate|completion)$/;

function configuresCapstan(words: readonly string[]): string | undefined {
  const command = words.find((text) => !text.startsWith("-")) ?? words[0] ?? "";
  if (words.length === 0 || CAPSTAN_HELP.test(command) || words.some((text) => /^(?:--help|-h)$/.test(text)))
    return undefined;
  return "It runs Capstan, which decides what agents may do.";
}

const OTHERS: readonly { readonly programs: RegExp; readonly words: RegExp; readonly what: string }[] = [
  {
    programs: /^(?:npm|pnpm|yarn)$/,
    words: /^(?:(?:config|c) (?:set|delete|rm|edit|fix)|set )/,
    what: "It changes npm's configuration.",
  },
  { programs: /^direnv$/, words: /^(?:allow|permit|grant|edit) /, what: "It makes direnv trust a file." },
  { programs: /^(?:husky|pre-commit|lefthook)$/, words: /^(?:init|install|add|set) /, what: "It installs git hooks." },
  { programs: /^npx$/, words: /^(?:husky|lefthook) /, what: "It installs git hooks." },
  { programs: /^claude$/, words: /^(?:mcp|config|plugin) /, what: "It changes Claude Code's configuration." },
  { programs: /^chsh$/, words: /^/, what: "It changes the login shell." },
];

/** Options before git's command that say what to read or run. */
function gitCommand(words: readonly ShellWord[]): { command: string | undefined; options: string[]; rest: string[] } {
  const options: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const { text, dynamic } = words[at] ?? { text: "", dynamic: true };
    if (dynamic) return { command: undefined, options, rest: [] };
    if (!text.startsWith("-")) return { command: text, options, rest: words.slice(at + 1).map((word) => word.text) };
    if (/^(?:-c|--config-env|--exec-path)/.test(text)) options.push(text);
    if (/^(?:-c|-C|--git-dir|--work-tree|--namespace|--config-env)$/.test(text)) at++;
  }
  return { command: undefined, options, rest: [] };
}

/** Git commands that write configuration, hooks, worktrees or modules, with the forms that do not. */
const GIT_WRITES: Readonly<Record<string, RegExp | undefined>> = {
  config: /^(?:--get\S*|--list|-l|get|list|--(?:local|global|system|worktree) (?:--get\S*|--list|-l))(?: |$)/,
  remote: /^(?:-v|--verbose|show|get-url|)(?: |$)/,
  submodule: /^(?:--quiet )?(?:status|summary|)(?: |$)/,
  worktree: /^list(?: |$)/,
  lfs: /^(?!install|update|track|untrack)/,
  maintenance: /^run(?: |$)/,
  "sparse-checkout": /^list(?: |$)/,
  credential: undefined,
  "credential-store": undefined,
  "for-each-repo": undefined,
};
/** Options with the same effect in other commands. */
const GIT_OPTIONS: Readonly<Record<string, RegExp>> = {
  clone: /^(?:-[a-zA-Z]*c|--config|--template|--separate-git-dir|--recurse-submodules|--recursive)/,
  init: /^(?:--template|--separate-git-dir)/,
  "update-index": /^(?:--cacheinfo|--index-info|--fsmonitor)/,
  fetch: /^--(?:recurse-submodules|upload-pack)/,
  pull: /^--recurse-submodules/,
  checkout: /^--recurse-submodules/,
};

function configuresGit(words: readonly ShellWord[]): string | undefined {
  const { command, rest } = gitCommand(words);
  if (command === undefined) return undefined;
  const isOnly = Object.hasOwn(GIT_WRITES, command) && !(GIT_WRITES[command]?.test(rest.join(" ")) ?? false);
  const hasOption = Object.hasOwn(GIT_OPTIONS, command) && rest.some((text) => GIT_OPTIONS[command]?.test(text));
  return isOnly || hasOption ? `git ${command} changes git's configuration.` : undefined;
}

function nameOf(program: string): string {
  return program.slice(program.lastIndexOf("/") + 1).toLowerCase();
}
