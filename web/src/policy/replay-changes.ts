import type { ReplayInput, WireReplayLine } from "../../../src/protocol/api/policy.ts";

/** The rules to replay, as text, one per line. */
export interface Trial {
  readonly mode: string;
  readonly allow: string;
  readonly ask: string;
  readonly deny: string;
}

type Rules = ReplayInput["permissions"];

export function rulesOf({ mode, allow, ask, deny }: Trial): Rules {
  return {
    ...(mode !== "" && { mode: mode as NonNullable<Rules["mode"]> }),
    allow: linesOf(allow),
    ask: linesOf(ask),
    deny: linesOf(deny),
  };
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

export interface ReplayChange {
  readonly before: WireReplayLine["before"];
  readonly now: WireReplayLine["now"];
  readonly count: number;
}

/** How often each decision changes to which other, most frequent first. */
export function changesIn(lines: readonly WireReplayLine[]): ReplayChange[] {
  const changes = new Map<string, ReplayChange>();
  for (const { before, now, changed } of lines)
    if (changed) {
      const key = `${before} ${now}`;
      changes.set(key, { before, now, count: (changes.get(key)?.count ?? 0) + 1 });
    }
  return [...changes.values()].toSorted((one, other) => other.count - one.count);
}

/** Problems by list of rules, from server messages such as `permissions.deny.0: message`. */
export function problemsByList(problems: readonly string[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const problem of problems) {
    const [, list, place, said] =
      /^permissions\.(allow|ask|deny|mode)(?:\.(\d+))?[\w.]*: ([\s\S]+)$/.exec(problem) ?? [];
    if (list === undefined || said === undefined) continue;
    const line = place === undefined ? said : `rule ${Number(place) + 1}: ${said}`;
    found[list] = found[list] === undefined ? line : `${found[list]} · ${line}`;
  }
  return found;
}
