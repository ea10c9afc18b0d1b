import type { WireExplanation } from "../../../src/client/index.ts";

type Subject = WireExplanation["subject"];

export interface Understood {
  readonly what: string;
  readonly items: readonly string[];
}

/** What a call does, in plain words. Empty parts are left out. */
export function describeSubject(subject: Subject): Understood[] {
  const { shell, paths, domain, subagent, skill, mcp } = subject;
  const place = (path: { named: string; real: string }): string => {
    const named = shortenPath(path.named, subject);
    return path.real === path.named ? named : `${named} → ${shortenPath(path.real, subject)}`;
  };
  const files = (access: "read" | "write"): string[] =>
    paths.filter((path) => path.access === access).map((path) => place(path));
  const redirections = (given: NonNullable<Subject["shell"]>["writes"]): string[] =>
    given.map(({ text, places }) => (places.length === 0 ? `${text} (known when it runs)` : text));
  const lines: Understood[] = [
    { what: "Runs", items: (shell?.commands ?? []).map(commandText) },
    { what: "Writes with >", items: redirections(shell?.writes ?? []) },
    { what: "Reads with <", items: redirections(shell?.reads ?? []) },
    { what: "Mentions these paths", items: unique((shell?.mentions ?? []).map(place)) },
    { what: "Not fully understood", items: shell?.unclear ?? [] },
    { what: subject.search === true ? "Searches under" : "Reads", items: unique(files("read")) },
    { what: "Writes", items: unique(files("write")) },
    { what: "Host", items: domain === undefined ? [] : [domain] },
    { what: "Subagent", items: subagent === undefined ? [] : [subagent] },
    { what: "Skill", items: skill === undefined ? [] : [skill] },
    { what: "MCP server and tool", items: mcp === undefined ? [] : [`${mcp.server}: ${mcp.tool}`] },
  ];
  return lines.filter(({ items }) => items.length > 0);
}

function commandText({ words, assignments, via }: NonNullable<Subject["shell"]>["commands"][number]): string {
  const said = [...assignments, ...words.map(({ text }) => text)].join(" ");
  const dynamic = words.some(({ dynamic }) => dynamic) ? " (a word is only known when it runs)" : "";
  return `${said}${dynamic}${via.length === 0 ? "" : ` (run by ${via.join(", ")})`}`;
}

/** Abbreviates the workspace as `.` and the home directory as `~`. */
function shortenPath(path: string, { workspace, home }: Subject): string {
  for (const [root, sign] of [
    [workspace, "."],
    [home, "~"],
  ] as const) {
    if (path === root) return sign;
    if (path.startsWith(`${root}/`)) return `${sign}${path.slice(root.length)}`;
  }
  return path;
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
