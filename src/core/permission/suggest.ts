import { isTransparent } from "./coverage.ts";
import { isHarmless } from "./match-call.ts";
import { readRule } from "../rules/rule.ts";
import { isInside } from "../paths/is-inside.ts";
import type { CallSubject, NamedPath, ShellSubject } from "../rules/subject.ts";
import { canonicalTool, PLAN_TOOL, QUESTION_TOOL, speaksOf } from "../rules/tool-names.ts";

/**
 * The rules that "remember this" would save: together they allow this exact call again, and as little else as possible.
 * Empty if there are none, as for a command that is only known when it runs.
 */
export function suggestRules(subject: CallSubject): readonly string[] {
  const rules = [...new Set(rulesFor(subject))];
  return rules.every((rule) => typeof readRule(rule) !== "string") ? rules : [];
}

function rulesFor(subject: CallSubject): readonly string[] {
  const { tool, shell, paths, domain, subagent, skill } = subject;
  if (tool === PLAN_TOOL || tool === QUESTION_TOOL) return [];
  if (shell !== undefined) return shellRules(shell, subject);
  if (tool === "WebFetch") return domain === undefined ? [] : [`WebFetch(domain:${domain})`];
  if (tool === "Agent") return subagent === undefined ? [] : [`Agent(${escapeWildcards(subagent)})`];
  if (tool === "Skill") return skill === undefined ? [] : [`Skill(${escapeWildcards(skill)})`];
  const family = subject.search === true ? tool : ["Edit", "Read"].find((name) => speaksOf(name, tool));
  if (family !== undefined) return samePath(family, paths, subject);
  // The rule would also match a built-in tool with almost the same name.
  return tool === "Bash" || canonicalTool(tool) !== tool ? [] : [tool];
}

function shellRules(shell: ShellSubject, subject: CallSubject): readonly string[] {
  if (shell.unclear.length > 0) return [];
  const commands = shell.commands.filter((command) => !isTransparent(command, subject));
  const isSayable = commands.every(
    ({ words, assignments }) => words.every(({ dynamic }) => !dynamic) && assignments.every(isHarmless),
  );
  if (!isSayable) return [];
  const redirected = [
    ...shell.writes.map(({ places }) => samePath("Edit", places, subject)),
    ...shell.reads
      .filter(({ places }) => places.length === 0 || !places.every(({ real }) => isInside(real, subject.workspace)))
      .map(({ places }) => samePath("Read", places, subject)),
  ];
  if (redirected.some((rules) => rules.length === 0)) return [];
  return [
    ...commands.map(({ words }) => `Bash(${words.map(({ text }) => quotedWord(text)).join(" ")})`),
    ...redirected.flat(),
  ];
}

/** A rule covers one path; there is none for an ambiguous name. */
function samePath(tool: string, places: readonly NamedPath[], subject: CallSubject): readonly string[] {
  const [path, ...others] = new Set(places.map(({ real }) => real));
  return path === undefined || others.length > 0 ? [] : [`${tool}(${pathText(path, subject)})`];
}

function pathText(path: string, { workspace, home }: CallSubject): string {
  if (path === workspace) return ".";
  if (isInside(path, workspace)) {
    const relative = escapeWildcards(path.slice(workspace.length).replace(/^\//, ""));
    // A bare name would match at any depth.
    return /^[^/~][^/]*\//.test(relative) ? relative : `./${relative}`;
  }
  return isInside(path, home) && path !== home
    ? `~${escapeWildcards(path.slice(home.length))}`
    : `/${escapeWildcards(path)}`;
}

/** Escapes wildcards, and leading and trailing spaces. */
function escapeWildcards(text: string): string {
  return text.replaceAll(/[\\*?[\]{},]|^\s|\s$/g, String.raw`\$&`);
}

export function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
