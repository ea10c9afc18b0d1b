/** What an option does beyond its program's purpose. */
export type Does =
  | "writes a file"
  | "changes files"
  | "deletes files"
  | "sends a file"
  | "sets the clock"
  | "runs a program"
  | "runs code"
  | "runs commands elsewhere";

/**
 * Options and subcommands that write, delete or run programs. A rule with a wildcard does not cover them; a rule that
 * names them does. `-o` is a letter, alone or in a group (`-no`); `--output` a long option, also abbreviated (`--out`);
 * `-delete` a word with one dash; `of=` and `+` the start of a word; `exec` a word without dashes.
 *
 * Not included: programs whose purpose is to write or run (`cp`, `tee`, `npx`, `bash`), and what is parsed as a
 * separate command (`find -exec`, `xargs`, `env`, `timeout`).
 */
export const OPTIONS_THAT_ACT: Readonly<Record<string, Readonly<Partial<Record<Does, string>>>>> = {
  "7z": { "deletes files": "d -sdel" },
  awk: {
    "runs code": "-f --file -i --include -l --load -E --exec",
    "writes a file": "-o --pretty-print -d --dump-variables -p --profile",
  },
  bat: { "runs a program": "--pager" },
  curl: {
    "writes a file":
      "-o --output -O --remote-name --remote-name-all -J --remote-header-name -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr --output-dir --etag-save --libcurl --hsts --alt-svc",
    "runs code": "-K --config",
    "sends a file": "-T --upload-file",
  },
  date: { "sets the clock": "-s --set" },
  dd: { "writes a file": "of=" },
  diff: { "writes a file": "--output" },
  docker: { "runs commands elsewhere": "run exec cp build" },
  fd: { "runs a program": "-x --exec -X --exec-batch" },
  file: { "writes a file": "-C --compile" },
  find: { "deletes files": "-delete", "writes a file": "-fprint -fprint0 -fprintf -fls" },
  git: { "writes a file": "--output --output-directory" },
  go: { "runs a program": "-exec -exec= --exec -toolexec -toolexec= --toolexec -vettool -vettool= --vettool" },
  iconv: { "writes a file": "-o --output" },
  ip: { "runs commands elsewhere": "netns -b" },
  kubectl: { "runs commands elsewhere": "exec run cp debug" },
  less: { "writes a file": "-o -O --log-file --LOG-FILE", "runs code": "-k --lesskey-file --lesskey-src" },
  make: { "runs code": "--eval SHELL= MAKEFLAGS= -f --file --makefile" },
  man: { "runs a program": "-P --pager -B --html -H --browser -C --config-file" },
  node: {
    "runs code": "-e --eval -p --print -r --require --import --loader --experimental-loader",
    "writes a file":
      "--redirect-warnings --diagnostic-dir --report-directory --cpu-prof --heap-prof --heapsnapshot-signal",
  },
  npm: { "runs commands elsewhere": "exec x explore --call --script-shell --globalconfig --userconfig" },
  openssl: {
    "writes a file": "-out -keyout -writerand -CAserial -certout",
    "runs a program": "-engine -provider-path",
  },
  patch: { "writes a file": "-o --output -r --reject-file" },
  perl: { "runs code": "-e -E -M -m -I -x", "changes files": "-i" },
  pnpm: { "runs commands elsewhere": "exec dlx x --shell-mode --script-shell" },
  python: { "runs code": "-c" },
  rg: { "runs a program": "--pre --hostname-bin" },
  rsync: {
    "runs a program": "-e --rsh --rsync-path",
    "deletes files":
      "--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --remove-source-files --del",
    "writes a file": "--log-file --write-batch --only-write-batch",
  },
  ruby: { "runs code": "-e -r -I -x", "changes files": "-i" },
  sdiff: { "writes a file": "-o --output" },
  sed: { "changes files": "-i --in-place", "runs a program": "-f --file" },
  shuf: { "writes a file": "-o --output" },
  sort: { "writes a file": "-o --output", "runs a program": "--compress-program" },
  split: { "runs a program": "--filter" },
  tar: {
    "deletes files": "--delete --remove-files --recursive-unlink --unlink-first",
    "writes a file": "--index-file --volno-file",
  },
  tcpdump: { "runs a program": "-z", "writes a file": "-w" },
  tree: { "writes a file": "-o --output" },
  unzip: { "writes a file": "-o -d" },
  vim: { "runs code": "-c --cmd -S -s -u -w -W + --startuptime" },
  wget: {
    "writes a file":
      "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file --rejected-log",
    "runs a program": "--use-askpass",
    "runs code": "-e --execute --config",
    "sends a file": "--post-file --body-file",
  },
  xxd: { "writes a file": "-r" },
  yarn: { "runs commands elsewhere": "exec dlx node" },
  yq: { "changes files": "-i --inplace", "writes a file": "-s --split-exp" },
  zip: { "runs a program": "-T --test --unzip-command", "deletes files": "-d --delete -m --move" },
  zstd: { "deletes files": "--rm", "changes files": "-f --force", "writes a file": "-o" },
};

/** Other names of the same programs. */
const ALIASES: Readonly<Record<string, string>> = {
  gawk: "awk",
  mawk: "awk",
  nawk: "awk",
  batcat: "bat",
  fdfind: "fd",
  gfind: "find",
  gdate: "date",
  gdd: "dd",
  gmake: "make",
  nodejs: "node",
  gsed: "sed",
  gsort: "sort",
  gsplit: "split",
  gtar: "tar",
  bsdtar: "tar",
  more: "less",
  podman: "docker",
  ex: "vim",
  vi: "vim",
  nvim: "vim",
  view: "vim",
  pnpx: "pnpm",
};

/** Letters of options with a value: the rest of the word is the value. */
const TAKES_VALUE: Readonly<Record<string, string>> = {
  awk: "Fvfilde",
  curl: "AbCcDdEeFHhKmoPQrTtUuwXxYyz",
  date: "dfrsI",
  less: "bhjkoOpPtTxyz",
  make: "CfIjloOW",
  node: "erpC",
  perl: "eEIMmFlD0C",
  python: "cmWXQ",
  rsync: "eTfBM",
  ruby: "eEIrCFKTW0",
  sed: "efl",
  sort: "kostST",
  tar: "bCfFgHIKLNTVX",
  unzip: "dxP",
  wget: "aABDeGiIloOPQrRtTUwX",
};

export interface ProgramEntry {
  readonly acts: Readonly<Partial<Record<Does, string>>>;
  readonly values: string;
}

/** What is known about a program's options; the name is in lower case and without a path. */
export function entryOf(name: string): ProgramEntry | undefined {
  const plain = /^(?:python|perl|ruby)[0-9.]+$/.test(name) ? name.replace(/[0-9.]+$/, "") : name;
  const known = Object.hasOwn(ALIASES, plain) ? (ALIASES[plain] ?? plain) : plain;
  const acts = Object.hasOwn(OPTIONS_THAT_ACT, known) ? OPTIONS_THAT_ACT[known] : undefined;
  return acts && { acts, values: TAKES_VALUE[known] ?? "" };
}
