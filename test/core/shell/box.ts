import { spawn } from "node:child_process";
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * A place where a command line is really run by bash and nothing happens: every program is a stub that records its words.
 * Programs that run others (env, xargs, find, …) are the real ones behind a recorder, or a small stand-in.
 *
 * The root is made of nothing: libraries, the stubs in place of /usr/bin, an empty home. No network, no other processes.
 */

/** Printed by every stub: wherever output is run again, a program shows up that no line names. */
const OUTPUT = "evil x";

const REAL = "env xargs find timeout nice nohup setsid stdbuf ionice chrt flock sed taskset dash".split(" ");
const STAND_INS: Readonly<Record<string, string>> = {
  // Options with a value, options, assignments; then the command.
  sudo: `while (($#)); do case $1 in -u|-g|-p|-h) shift 2;; --) shift; break;; -*) shift;; *=*) export "$1"; shift;; *) break;; esac; done; (($#)) && exec "$@"`,
  doas: `while (($#)); do case $1 in -u) shift 2;; -*) shift;; *) break;; esac; done; (($#)) && exec "$@"`,
  watch: `while (($#)); do case $1 in -n) shift 2;; -*) shift;; *) break;; esac; done; exec /box/bash -c "$*"`,
  ssh: `while (($#)); do case $1 in -p|-i|-l|-F|-J) shift 2;; -o) case $2 in ProxyCommand=*) /box/bash -c "\${2#*=}";; esac; shift 2;; -o*) shift;; -*) shift;; *) break;; esac; done; shift; (($#)) && exec /box/bash -c "$*" || exec /box/bash`,
  su: `while (($#)); do case $1 in -c) exec /box/bash -c "$2";; *) shift;; esac; done; exec /box/bash`,
  script: `while (($#)); do case $1 in -*c) exec /box/bash -c "$2";; *) shift;; esac; done; exec /box/bash`,
  time: `while (($#)); do case $1 in -o|-f) shift 2;; -*) shift;; *) break;; esac; done; exec "$@"`,
  unshare: `while (($#)); do case $1 in -*) shift;; *) break;; esac; done; exec "$@"`,
  chroot: `shift; exec "$@"`,
  strace: `while (($#)); do case $1 in -o) case $2 in "|"*) /box/bash -c "\${2#?}";; esac; shift 2;; -e|-s) shift 2;; -*) shift;; *) break;; esac; done; exec "$@"`,
  busybox: `exec "$@"`,
  parallel: `exec /box/bash -c "$*"`,
  tar: `for word; do case $word in --checkpoint-action=exec=*) /box/bash -c "\${word#*=exec=}";; --to-command=*|--use-compress-program=*) /box/bash -c "\${word#*=}";; esac; done`,
  git: `while (($#)); do case $1 in
    -c) case $2 in alias.*=!*) /box/bash -c "\${2#*=!}";; core.pager=*|core.sshCommand=*|core.fsmonitor=*|diff.external=*) /box/bash -c "\${2#*=}";; esac; shift 2;;
    -C) shift 2;; -*) shift;; *) break;; esac; done
    case "$1 $2" in "bisect run") shift 2; exec "$@";; "submodule foreach") shift 2; exec /box/bash -c "$*";; esac
    case $1 in rebase) while (($#)); do case $1 in -x|--exec) /box/bash -c "$2"; shift 2;; --exec=*) /box/bash -c "\${1#*=}"; shift;; *) shift;; esac; done;; esac`,
};
const SHELLS: Readonly<Record<string, string>> = {
  bash: "/box/bash",
  sh: "/box/bash",
  rbash: "/box/bash",
  zsh: "/box/bash",
  ksh: "/box/bash",
};

const RECORD = `record() {
  local line= word
  for word; do
    word=\${word//\\\\/\\\\\\\\}; word=\${word//$'\\n'/\\\\n}; word=\${word//$'\\t'/\\\\t}
    line+=$word$'\\t'
  done
  printf '%s\\n' "$line" >> /log/programs
}
`;

/** Runs the line, then waits until everything that it left in the background has ended. */
const DRIVER = `#!/box/bash
: > a.ts > b.ts > x > f > script.sh
prelude='command_not_found_handle() { /box/record "$@"; }; export -f command_not_found_handle'
/box/real/timeout -k 0.2 1 /box/bash -c "$prelude"$'\\n'"$1" </dev/null >/dev/null 2>&1
for ((n = 0; n < 50; n++)); do
  processes=(/proc/[0-9]*)
  ((\${#processes[@]} <= 2)) && break
  /box/real/sleep 0.01
done
`;

const COMMON =
  `awk basename cat chmod chown cp curl cut date dd df diff dirname docker du evil file gcc go grep head id install jq kill less ln ls make
  man mkdir mktemp mv nc node npm npx perl pnpm ps python python3 rm rmdir rsync ruby scp sleep sort ssh-keygen stat tail tee touch tr tree uname
  uniq vim wc wget which whoami yarn`.split(/\s+/);

const LIBRARIES = ["/usr/lib", "/usr/lib64"].filter((path) => existsSync(path));
/** What is made anew for each line. */
const FRESH = ["/proc", "/dev", "/tmp", "/home", "/log"];
/** One directory for all that is searched for programs. */
const LINKS = { bin: "usr/bin", "usr/local/bin": "../bin", lib: "usr/lib", lib64: "usr/lib64" };

function which(program: string): string | undefined {
  for (const directory of ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]) {
    const path = join(directory, program);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

export class Box implements Disposable {
  readonly #root = mkdtempSync(join(tmpdir(), "shell-box-"));
  readonly #arguments: readonly string[];

  /** @param programs names that must be stubs, besides the common ones. */
  constructor(programs: Iterable<string>) {
    const names = new Set([...COMMON, ...programs].filter((name) => /^[A-Za-z0-9][\w.+-]*$/.test(name)));
    for (const name of [
      "logs",
      "tree/box/real",
      "tree/usr/bin",
      "tree/usr/local",
      ...[...LIBRARIES, ...FRESH].map((at) => `tree${at}`),
    ])
      mkdirSync(join(this.#root, name), { recursive: true });
    for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(this.#root, "tree", name));
    const real = REAL.filter((name) => which(name) !== undefined);
    for (const name of [...real, "sleep"]) copyFileSync(which(name) ?? "", this.#at(`box/real/${name}`));
    copyFileSync(which("bash") ?? "", this.#at("box/bash"));
    const write = (name: string, then: string): void =>
      this.#program(`usr/bin/${name}`, `#!/box/bash -p\n${RECORD}record '${name}' "$@"\n${then}\n`);
    for (const name of names) write(name, `echo ${OUTPUT}\nread -r status < /box/status\nexit "$status"`);
    for (const [name, body] of Object.entries(STAND_INS)) write(name, body);
    for (const name of real) write(name, `exec /box/real/${name} "$@"`);
    for (const [name, shell] of Object.entries(SHELLS)) write(name, `exec -a ${name} ${shell} "$@"`);
    this.#program("box/record", `#!/box/bash -p\n${RECORD}record "$@"\n`);
    this.#program("box/driver", DRIVER);
    this.#program("box/status", "");
    for (const status of [0, 1]) writeFileSync(join(this.#root, `status-${status}`), `${status}\n`);
    this.#arguments = this.#boxArguments();
  }

  /** A path in the box, seen from outside. */
  #at(path: string): string {
    return join(this.#root, "tree", path);
  }

  #program(path: string, text: string): void {
    writeFileSync(this.#at(path), text, { mode: 0o755 });
  }

  #boxArguments(): string[] {
    return [
      ..."--unshare-all --die-with-parent --new-session --clearenv".split(" "),
      ..."--setenv PATH /usr/bin:/bin --setenv HOME /home/box --setenv LANG C.UTF-8 --setenv SHELL /box/bash".split(
        " ",
      ),
      "--ro-bind",
      join(this.#root, "tree"),
      "/",
      ...LIBRARIES.flatMap((path) => ["--ro-bind", path, path]),
      ..."--proc /proc --dev /dev --tmpfs /tmp --tmpfs /home --dir /home/box --chdir /home/box".split(" "),
    ];
  }

  /** The programs that a line really runs, each with its words, when stubs end with this status. */
  async run(id: string, line: string, status: 0 | 1): Promise<string[][]> {
    const log = join(this.#root, "logs", `${id}-${status}`);
    mkdirSync(log);
    const box = ["--bind", log, "/log", "--ro-bind", join(this.#root, `status-${status}`), "/box/status"];
    const child = spawn("bwrap", [...this.#arguments, ...box, "/box/bash", "/box/driver", line], {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: 10_000,
      killSignal: "SIGKILL",
    });
    let problems = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
    await new Promise<void>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", () => resolve());
    });
    if (problems.includes("bwrap:")) throw new Error(problems);
    return readLog(join(log, "programs"));
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

function readLog(path: string): string[][] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) =>
      line
        .split("\t")
        .slice(0, -1)
        .map((word) => word.replaceAll(/\\(.)/g, unescapeLetter)),
    );
}

function unescapeLetter(_: string, letter: string): string {
  return letter === "n" ? "\n" : letter === "t" ? "\t" : letter;
}
