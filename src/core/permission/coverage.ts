import { type PreparedCall, isCoveredBy, isHarmless, type CallPart, type ShellCommand } from "./match-call.ts";
import type { Rule } from "../rules/rule.ts";
import type { GrantedRule } from "./rule-set.ts";
import type { CallSubject } from "../rules/subject.ts";

export interface Allowances {
  readonly rules: readonly Rule[];
  readonly grants: readonly GrantedRule[];
}

/**
 * The rules and grants that together cover all parts of a call; undefined if a part is not covered. `isFree` says which
 * parts need no rule. A command that could not be parsed is covered only by a rule for the whole tool.
 */
export function coverageOf(
  call: PreparedCall,
  allowances: Allowances,
  isFree: (part: CallPart) => boolean,
): Allowances | undefined {
  const { subject, parts } = call;
  const whole = covering({ kind: "call" }, call, allowances);
  if (whole !== undefined) return whole;
  const { shell } = subject;
  if (shell === undefined || shell.unclear.length > 0 || shell.commands.length === 0) return undefined;
  const rules = new Set<Rule>();
  const grants = new Set<GrantedRule>();
  for (const part of parts) {
    if (isFree(part) || (part.kind === "command" && isTransparent(part.command, subject))) continue;
    const found = covering(part, call, allowances);
    if (found === undefined) return undefined;
    for (const rule of found.rules) rules.add(rule);
    for (const grant of found.grants) grants.add(grant);
  }
  return { rules: [...rules], grants: [...grants] };
}

/** The first part that nothing covers. */
export function findUncovered(
  call: PreparedCall,
  allowances: Allowances,
  isFree: (part: CallPart) => boolean,
): CallPart | undefined {
  return call.parts.find(
    (part) =>
      !isFree(part) &&
      !(part.kind === "command" && isTransparent(part.command, call.subject)) &&
      covering(part, call, allowances) === undefined,
  );
}

function covering(part: CallPart, call: PreparedCall, { rules, grants }: Allowances): Allowances | undefined {
  const rule = rules.find((candidate) => isCoveredBy(candidate, part, call));
  if (rule !== undefined) return { rules: [rule], grants: [] };
  const grant = grants.find((candidate) => isCoveredBy(candidate.rule, part, call));
  return grant && { rules: [], grants: [grant] };
}

/** Programs that only start another one, which needs its own rule. */
const TRANSPARENT = new Set(["nohup", "nice", "time", "timeout", "stdbuf", "command", "env"]);

/** Whether a command only starts another listed one, without changing what that one does. */
export function isTransparent(command: ShellCommand, { shell }: CallSubject): boolean {
  const [program, ...rest] = command.words;
  if (program === undefined || program.dynamic || !TRANSPARENT.has(program.text)) return false;
  const leadsOn = shell?.commands.some(({ via }) => via.includes(program.text)) === true;
  if (!leadsOn || !command.assignments.every(isHarmless)) return false;
  const first = rest.findIndex(({ text }) => !text.startsWith("-") && !text.includes("="));
  const own = first < 0 ? rest : rest.slice(0, first);
  if (own.some(({ dynamic }) => dynamic)) return false;
  if (program.text === "env")
    return own.every(({ text }) => text === "--" || isHarmless(/^(\w+)=/.exec(text)?.[1] ?? ""));
  // GNU time can write its figures to a file.
  return program.text !== "time" || own.every(({ text }) => text === "-p" || text === "--");
}
