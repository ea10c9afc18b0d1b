import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Reporter, TestModule } from "vitest/node";

/** The CLI needs longer than this to start, so that none is missed. */
const LOOK_EVERY_MS = 250;
const CLAUDE = resolve("node_modules/@anthropic-ai/claude-agent-sdk-");

/** Prints where the time of a run went: for each project, and how often the Claude CLI of this tree was started. */
export class TimesReporter implements Reporter {
  readonly #starts = new Set<string>();
  #watch: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#starts.clear();
    clearInterval(this.#watch);
    if (process.platform === "linux") this.#watch = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    clearInterval(this.#watch);
    const byProject = Map.groupBy(modules, ({ project }) => project.name);
    const lines = [...byProject]
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, files]) => {
        const spent = files.map((file) => file.diagnostic()).map((time) => time.collectDuration + time.duration);
        const seconds = spent.reduce((sum, ms) => sum + ms, 0) / 1_000;
        return `  ${name.padEnd(18)} ${seconds.toFixed(0).padStart(5)} s in ${files.length} files`;
      });
    console.log("\nTime by project, added up over the workers:");
    console.log(lines.join("\n"));
    if (process.platform === "linux") console.log(`  The Claude CLI was started ${this.#starts.size} times.`);
  }

  #look(): void {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
      const [program = "", ...args] = read(`/proc/${pid}/cmdline`).split("\0");
      if (!program.startsWith(CLAUDE) || !args.includes("--input-format")) continue;
      // Pids are used again: the time of the start, the 22nd field, tells processes apart.
      this.#starts.add(`${pid} ${read(`/proc/${pid}/stat`).split(" ")[21] ?? ""}`);
    }
  }
}

/** Empty for a process that has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
