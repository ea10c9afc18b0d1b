import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { clock } from "../../src/app/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { copyTree, FASTER, putProgram } from "./cli.ts";
import { temporaryDirectory } from "./host.ts";
import { TEST_ENGINE } from "./test-engine.ts";

const run = promisify(execFile);

export interface Output {
  readonly stdout: string;
  /** Missing when it is 0. */
  readonly code?: number;
}

/** What a first command printed, and a copy of all that it left. */
interface Begun {
  readonly output: Output;
  readonly kept: string;
}

/**
 * Where the commands of the documents are typed: a home and a directory with the files that the documents speak of. It
 * always has the same path, because a session knows where it works: so what a command did can be put there again.
 */
export class ConsoleHome implements Disposable {
  readonly #directory = temporaryDirectory();
  readonly #place = join(this.#directory.path, "place");
  readonly #begun = new Map<string, Begun>();

  /** A place where nothing was typed yet. */
  empty(): void {
    rmSync(this.#place, { recursive: true, force: true });
    mkdirSync(join(this.#place, "work"), { recursive: true });
    putProgram(join(this.#place, "bin"));
    const write = (name: string, text: string): void => writeFileSync(join(this.#place, "work", name), text);
    write("notes.txt", "Buy milk.\n");
    write("agent.yaml", "name: reviewer\ninstructions: Review.\ntools: [Read, Glob]\n");
    write("city.json", '{ "type": "object", "properties": { "city": { "type": "string" } } }');
  }

  /** An empty place, and its first command. What that does is done once, however many begin with it. */
  async begin(line: string): Promise<Output> {
    const begun = this.#begun.get(line);
    if (begun !== undefined) {
      rmSync(this.#place, { recursive: true, force: true });
      copyTree(begun.kept, this.#place);
      return begun.output;
    }
    this.empty();
    const output = await this.type(line);
    const kept = join(this.#directory.path, String(this.#begun.size));
    copyTree(this.#place, kept);
    this.#begun.set(line, { output, kept });
    return output;
  }

  async type(line: string): Promise<Output> {
    const path = [join(this.#place, "bin"), dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"];
    const env = { PATH: path.join(delimiter), HOME: this.#place, CAPSTAN_ENGINE: TEST_ENGINE, ...FASTER };
    // Nothing is typed: `run` reads what is piped to it.
    const fed = `${line} < /dev/null`.replace(/^(.*\|.*) < \/dev\/null$/, "$1");
    const options = { cwd: join(this.#place, "work"), env, timeout: 50_000 };
    return run("sh", ["-c", fed], options).catch((error: unknown) => error as Output);
  }

  /** The end of the id of the session that was last at work. */
  async lastSession(): Promise<string> {
    await using store = await openSqliteStore({ path: join(this.#place, ".capstan", "capstan.db"), clock });
    return (await store.sessions())[0]?.id.slice(-8) ?? "";
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}
