import { resolve } from "node:path";
import { loadConfiguration } from "../../config/load.ts";
import { costText } from "../follow/cost.ts";
import { userStore } from "../target/home.ts";
import { ago, table } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export async function showConfig(flags: {
  readonly agent?: string;
  readonly cwd: string;
  readonly json?: boolean;
}): Promise<void> {
  const configuration = await loadConfiguration({
    cwd: resolve(flags.cwd),
    environment: process.env,
    flags: {},
    agentFile: flags.agent === undefined ? undefined : resolve(flags.agent),
    isOnlyShown: true,
  });
  const values = await configuration.values();
  if (flags.json === true) return print(values.map((value) => hiddenFreeJson(value)).join("\n"));
  print(
    table(
      ["KEY", "FROM", "VALUE"],
      values.map(({ key, value, source, withheld }) => [
        key,
        withheld === undefined ? source : `no effect (${withheld}): ${source}`,
        typeof value === "string" ? value : JSON.stringify(value),
      ]),
      // Cut on a terminal; complete for programs.
      { atLeast: process.stdout.isTTY ? 40 : Infinity },
    ),
  );
}

interface ProjectLine {
  readonly project: string;
  readonly sessions: number;
  /** At list prices; includes the next two. */
  readonly usd: number;
  readonly includedUsd: number;
  readonly rehearsalUsd: number;
  readonly unpricedRequests: number;
  readonly lastActivityAt: number;
}

export async function projects(flags: { readonly json?: boolean }): Promise<void> {
  await using store = await userStore();
  const lines = new Map<string, ProjectLine>();
  for (const { project, usd, includedUsd, rehearsalUsd, unpricedRequests, lastActivityAt } of await store.sessions()) {
    const line = lines.get(project);
    lines.set(project, {
      project,
      sessions: (line?.sessions ?? 0) + 1,
      usd: (line?.usd ?? 0) + usd,
      includedUsd: (line?.includedUsd ?? 0) + (includedUsd ?? 0),
      rehearsalUsd: (line?.rehearsalUsd ?? 0) + (rehearsalUsd ?? 0),
      unpricedRequests: (line?.unpricedRequests ?? 0) + (unpricedRequests ?? 0),
      lastActivityAt: Math.max(line?.lastActivityAt ?? 0, lastActivityAt),
    });
  }
  const all = [...lines.values()];
  if (flags.json === true) return all.forEach((line) => print(hiddenFreeJson(line)));
  if (all.length === 0)
    return print("No sessions in any project yet. A directory that contains .capstan/ is a project.");
  print(
    table(
      ["SESSIONS", "COST", "ACTIVE", "PROJECT"],
      all.map((line) => [String(line.sessions), costText(line), ago(Date.now() - line.lastActivityAt), line.project]),
      // Paths are never cut.
      { atLeast: Infinity },
    ),
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
