import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What bash did with one line. */
export interface Ran {
  /** Every program that it started, with its words. */
  readonly programs: readonly (readonly string[])[];
  /** Files that it made in its directory. */
  readonly files: readonly string[];
}

export interface Task {
  readonly line: string;
  /** How programs end. */
  readonly status: 0 | 1;
}

const LIBRARIES = ["/usr/lib", "/usr/lib64"].filter((path) => existsSync(path));

/**
 * Each line runs in a fork of one bash, in an empty directory of its own, with no program on the machine but `evil`:
 * the names of all others end in the handler that records them. What programs print would run evil if it were run.
 * After some programs they fail in turns, so that every loop ends. A record is one line for bash, and so one write: line
 * breaks in words are written as a character that no allowed line can hold.
 */
const DRIVER = String.raw`
command_not_found_handle() {
  local fuzz_seen
  mapfile -d '' fuzz_seen 2>/dev/null < "$fuzz_log"
  printf '%s\0' "$#" "${"$"}{@//$'\n'/$'\1'}" >> "$fuzz_log"
  printf 'evil x\n'
  ((${"$"}{#fuzz_seen[@]} < 40)) && return "$fuzz_status"
  return "$((${"$"}{#fuzz_seen[@]} / 7 % 2))"
}
export -f command_not_found_handle
export fuzz_log fuzz_status
PATH=/box/bin
mapfile -d '' fuzz_lines < /lines
for fuzz_index in "${"$"}{!fuzz_lines[@]}"; do
  (
    cd "/dirs/$fuzz_index"
    ulimit -t 1
    fuzz_log=/logs/$fuzz_index
    fuzz_line=${"$"}{fuzz_lines[fuzz_index]}
    fuzz_status=${"$"}{fuzz_line:0:1}
    set --
    trap - EXIT
    eval "${"$"}{fuzz_line:1}"
    wait
  ) < /dev/null > /dev/null 2>&1
done
`;

const EVIL = `#!/box/bash -p\nprintf '%s\\0' "$(($# + 1))" evil "\${@//$'\\n'/$'\\1'}" >> "$fuzz_log"\n`;

export class BatchBox implements Disposable {
  readonly #root = mkdtempSync(join(tmpdir(), "shell-fuzz-"));
  #batches = 0;

  constructor() {
    const tree = join(this.#root, "tree");
    for (const name of [
      "box/bin",
      "proc",
      "dev",
      "tmp",
      "home",
      "logs",
      "dirs",
      "usr",
      ...LIBRARIES.map((at) => at.slice(1)),
    ])
      mkdirSync(join(tree, name), { recursive: true });
    for (const name of ["lib", "lib64"]) mkdirSync(join(tree, name), { recursive: true });
    copyFileSync("/bin/bash", join(tree, "box/bash"));
    writeFileSync(join(tree, "box/bin/evil"), EVIL, { mode: 0o755 });
    writeFileSync(join(tree, "box/driver"), DRIVER);
    writeFileSync(join(tree, "lines"), "");
  }

  async run(tasks: readonly Task[]): Promise<Ran[]> {
    const batch = join(this.#root, `batch-${this.#batches++}`);
    for (const name of ["logs", "dirs"]) mkdirSync(join(batch, name), { recursive: true });
    for (const index of tasks.keys()) mkdirSync(join(batch, "dirs", String(index)));
    writeFileSync(join(batch, "lines"), tasks.map(({ line, status }) => `${status}${line}\0`).join(""));
    await this.#start(batch);
    const ran = tasks.map((_, index) => ({
      programs: readLog(join(batch, "logs", String(index))),
      files: readdirSync(join(batch, "dirs", String(index))),
    }));
    rmSync(batch, { recursive: true });
    return ran;
  }

  async #start(batch: string): Promise<void> {
    const bind = (name: string): string[] => ["--bind", join(batch, name), `/${name}`];
    const child = spawn(
      "bwrap",
      [
        ..."--unshare-all --die-with-parent --new-session --clearenv --setenv LANG C.UTF-8 --setenv HOME /home".split(
          " ",
        ),
        ..."--ro-bind".split(" "),
        join(this.#root, "tree"),
        "/",
        ...LIBRARIES.flatMap((path) => ["--ro-bind", path, path]),
        ...["lib", "lib64"].flatMap((name) => (existsSync(`/${name}`) ? ["--ro-bind", `/${name}`, `/${name}`] : [])),
        ..."--proc /proc --dev /dev --tmpfs /tmp --tmpfs /home".split(" "),
        ...bind("logs"),
        ...bind("dirs"),
        "--ro-bind",
        join(batch, "lines"),
        "/lines",
        "/box/bash",
        "/box/driver",
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let problems = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (problems += text));
    const status = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    if (status !== 0) throw new Error(`The box ended with ${status}: ${problems}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** Records of one program each: the number of its words, and the words. */
function readLog(path: string): string[][] {
  if (!existsSync(path)) return [];
  const fields = readFileSync(path, "utf8").replaceAll("\u0001", "\n").split("\0");
  const programs: string[][] = [];
  for (let at = 0; at < fields.length - 1;) {
    const count = Number(fields[at]);
    programs.push(fields.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return programs;
}
