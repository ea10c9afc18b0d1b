import type { Mode } from "../agent/agent-definition.ts";
import { type Allowances, coverageOf, findUncovered } from "./coverage.ts";
import { isSecret, type SandboxPlan } from "../environment/sandbox.ts";
import { isSecretName } from "../environment/secret-files.ts";
import { outsideLimits } from "./limits.ts";
import {
  type PreparedCall,
  prepareCall,
  coversWithoutOptions,
  type Hit,
  isCoveredBy,
  type CallPart,
  restrictedBy,
} from "./match-call.ts";
import { optionsReason } from "./options-reason.ts";
import type { Rule } from "../rules/rule.ts";
import type { AskRule, GrantedRule, Rules, RuleSet } from "./rule-set.ts";
import { isInside } from "../paths/is-inside.ts";
import { protectedIn } from "./protected/in-call.ts";
import type { CallSubject, ToolTraits } from "../rules/subject.ts";
import { suggestRules } from "./suggest.ts";
import { PLAN_TOOL, QUESTION_TOOL } from "../rules/tool-names.ts";

/**
 * Whether a tool call may run: one pure function for every engine and every tool, in the order of docs/permissions.md.
 */
export interface PermissionQuery {
  /** The agent, or the calling subagent, has the tool. */
  readonly enabled: boolean;
  readonly mode: Mode;
  readonly rules: RuleSet;
  readonly traits: ToolTraits;
  readonly subject: CallSubject;
  /** It runs in a sandbox, does not ask to leave it, and the settings allow such calls. */
  readonly sandboxed: boolean;
  /** The environment's limits (default: none). */
  readonly limits?: SandboxPlan | undefined;
  /** Directories with files that the engine told the model to read: results and skill files. */
  readonly readable?: readonly string[] | undefined;
  /** The grants that apply to this session. */
  readonly grants: readonly GrantedRule[];
}

export interface PermissionVerdict {
  readonly behavior: "allow" | "deny" | "ask";
  /** The rule, mode or grant that decided, such as `rule:deny Bash(rm *)`, `mode:yolo` or `grant:grnt_1`. */
  readonly decidedBy: string;
  readonly reason: string;
  /** The answer may be saved as a grant. Only true for `ask`. */
  readonly rememberable: boolean;
  /**
   * What is requested: permission for a call, approval of a plan, an answer, or the result of a tool that a client
   * runs.
   */
  readonly kind: "tool" | "plan" | "question" | "custom_tool";
}

/** The steps, in order, until one decides. */
export const STEPS = [
  "enabled tools",
  "deny rules",
  "limits",
  "mode",
  "protected paths",
  "ask rules",
  "allow rules",
  "tools marked safe",
  "accepted edits",
  "sandbox",
  "mode yolo",
  "reading in the workspace",
  "otherwise",
] as const;

/** `passed` is called for each step that did not decide, in order, with the reason. */
export function decide(query: PermissionQuery, onPassed: (why: string) => void = () => {}): PermissionVerdict {
  const { mode, traits, subject } = query;
  const { tool } = subject;
  const call = prepareCall(subject);
  const rules = query.rules.among(call);

  if (!query.enabled) return verdict("deny", "agent:tools", `${tool} is not enabled for this agent.`);
  if (subject.refused !== undefined) return verdict("deny", "input:path", subject.refused);
  onPassed("the agent has it");

  const denial = firstHit(rules.deny, call);
  if (denial?.hit.isSure === true)
    return verdict("deny", `rule:deny ${denial.rule.text}`, `The rule ${denial.rule.text} denies this call.`);
  onPassed(denial === undefined ? "no match" : `${denial.rule.text} might match`);

  const limited = query.limits && outsideLimits(subject, query.limits, query.readable);
  if (limited !== undefined) return verdict("deny", limited.decidedBy, limited.reason);
  onPassed(query.limits === undefined ? "none" : "within");

  const isOwnKind = tool === PLAN_TOOL || tool === QUESTION_TOOL;
  if ((mode === "read-only" || mode === "plan") && !traits.readOnly && !isOwnKind)
    return verdict("deny", `mode:${mode}`, `${tool} may change something, and the session is in ${mode} mode.`);
  onPassed(`${mode} does not deny it`);

  if (tool === PLAN_TOOL)
    return { ...verdict("ask", `tool:${tool}`, "The agent asks for approval of its plan."), kind: "plan" };
  if (tool === QUESTION_TOOL)
    return { ...verdict("ask", `tool:${tool}`, "The agent has a question."), kind: "question" };
  // The client decides with its answer: no rule or grant could provide a result.
  if (traits.custom === true)
    return {
      ...verdict("ask", `tool:${tool}`, "A client runs this tool and returns its result."),
      kind: "custom_tool",
    };
  // Nothing that an agent writes may weaken its supervision, so no rule, mode or grant can replace a person here.
  const guarded = traits.readOnly || traits.safeInternal ? undefined : protectedIn(subject);
  if (guarded !== undefined) return verdict("ask", `protected:${guarded.pattern}`, guarded.reason);
  onPassed(traits.readOnly || traits.safeInternal ? "writes none" : "names none");
  // A grant would cover a command that nobody has seen; only a person can tell whether it is the denied one.
  if (denial !== undefined)
    return verdict("ask", `rule:deny ${denial.rule.text}`, doubt(denial.rule, call, "could deny this call"));
  const asking = askRulesFor(rules.ask, call);
  const forbidding = asking.find(({ rule }) => !rule.remember);
  const [question] = forbidding === undefined ? asking : [forbidding];
  const answer = question && forbidding === undefined ? answeredBy(query.grants, asking, call) : undefined;
  if (question !== undefined && answer === undefined) {
    const { rule, hit } = question;
    const reason = hit.isSure ? `The rule ${rule.rule.text} requires approval.` : doubt(rule.rule, call, "may ask");
    return ask(`rule:ask ${rule.rule.text}`, reason, forbidding === undefined && isKnown(call));
  }
  onPassed(answer === undefined ? "no match" : `${answer.id} answers`);

  const permission = findPermission(query, call, rules, onPassed);
  if (permission !== undefined) return answer === undefined ? permission : grantVerdict(answer);
  const allowances: Allowances = { rules: rules.allow, grants: query.grants };
  const grant = query.grants.length > 0 ? coverageOf(call, allowances, isFreeIn(mode))?.grants[0] : undefined;
  if (grant !== undefined) return grantVerdict(grant);
  const secret = secretIn(query);
  const open = unspoken(call, findUncovered(call, allowances, isFreeIn(mode)), rules.allow);
  return ask("default:ask", secret === undefined ? open : mayHold(secret), isKnown(call));

  function ask(decidedBy: string, reason: string, mayRemember: boolean): PermissionVerdict {
    const rememberable = mayRemember && suggestRules(subject).length > 0;
    return { ...verdict("ask", decidedBy, reason), rememberable };
  }
}

/** Steps 7 to 12: allowing a call without a person. */
function findPermission(
  query: PermissionQuery,
  call: PreparedCall,
  rules: Rules,
  onPassed: (why: string) => void,
): PermissionVerdict | undefined {
  const { mode, traits, sandboxed } = query;
  const { tool, inside } = query.subject;
  const coverage = coverageOf(call, { rules: rules.allow, grants: [] }, isFreeIn(mode));
  if (coverage !== undefined) {
    const names = coverage.rules.map(({ text }) => text);
    const who = names.length === 1 ? `The rule ${names[0]} allows` : `The rules ${names.join(" and ")} together allow`;
    return verdict("allow", `rule:allow ${names.join(", ")}`, `${who} this call.`);
  }
  onPassed("no match");
  if (traits.safeInternal) return verdict("allow", "tool:safe-internal", `${tool} is marked safe.`);
  onPassed("not marked safe");
  if (mode === "accept-edits" && traits.edit && inside)
    return verdict("allow", "mode:accept-edits", "This mode accepts edits in the workspace.");
  onPassed(mode !== "accept-edits" ? `the mode is ${mode}` : traits.edit ? "outside" : "not an edit");
  if (sandboxed && tool === "Bash") return verdict("allow", "sandbox:auto-allow", "The command runs in the sandbox.");
  onPassed(sandboxed ? "only for Bash" : "not sandboxed");
  if (mode === "yolo") return verdict("allow", "mode:yolo", "This mode allows everything that no rule denies.");
  onPassed(`the mode is ${mode}`);
  if (traits.readOnly && inside && secretIn(query) === undefined)
    return verdict("allow", "tool:read-only", `${tool} only reads in the workspace.`);
  if (traits.readOnly && isOwn(query))
    return verdict("allow", "tool:read-only", `${tool} reads the session's own files.`);
  const isHeld = traits.readOnly && inside;
  onPassed(isHeld ? "may contain credentials" : traits.readOnly ? "outside" : "may change something");
  return undefined;
}

/** The file in a call that may contain a secret and that no setting shows. */
function secretIn({ subject: { paths }, limits }: PermissionQuery): string | undefined {
  const isHeld = (path: string): boolean => (limits === undefined ? isSecretName(path) : isSecret(path, limits));
  return paths.find(({ named, real }) => isHeld(named) || isHeld(real))?.named;
}

function mayHold(path: string): string {
  return `${path} may contain credentials, so reading or changing it needs approval.`;
}

/** Whether all paths of the call are in directories where the engine keeps this session's files for the model. */
function isOwn({ subject: { paths }, readable = [] }: PermissionQuery): boolean {
  return paths.length > 0 && paths.every(({ real }) => readable.some((directory) => isInside(real, directory)));
}

/**
 * Parts of a shell command that need no rule: reading files of the workspace, and in accept-edits mode writing them.
 */
function isFreeIn(mode: Mode): (part: CallPart) => boolean {
  return (part) => part.kind === "redirection" && part.inside && (part.access === "read" || mode === "accept-edits");
}

function firstHit(rules: readonly Rule[], call: PreparedCall): { rule: Rule; hit: Hit } | undefined {
  let possible: { rule: Rule; hit: Hit } | undefined;
  for (const rule of rules) {
    const hit = restrictedBy(rule, call);
    if (hit?.isSure === true) return { rule, hit };
    if (hit !== undefined) possible ??= { rule, hit };
  }
  return possible;
}

interface Asking {
  readonly rule: AskRule;
  readonly hit: Hit;
}

function askRulesFor(rules: readonly AskRule[], call: PreparedCall): readonly Asking[] {
  const all: Asking[] = [];
  for (const rule of rules) {
    const hit = restrictedBy(rule.rule, call);
    if (hit !== undefined) all.push({ rule, hit });
  }
  return all;
}

/** The grant that answers the question, if every part in question has one. */
function answeredBy(
  grants: readonly GrantedRule[],
  asking: readonly Asking[],
  call: PreparedCall,
): GrantedRule | undefined {
  const parts = new Set(asking.flatMap(({ hit }) => hit.parts));
  // A command that could not be parsed is covered only by a grant for the whole tool.
  const asked: Iterable<CallPart> = isKnown(call) ? parts : [{ kind: "call" }];
  let first: GrantedRule | undefined;
  for (const part of asked) {
    const grant = grants.find(({ rule }) => isCoveredBy(rule, part, call));
    if (grant === undefined) return undefined;
    first ??= grant;
  }
  return first;
}

function isKnown({ subject }: PreparedCall): boolean {
  return subject.shell === undefined || subject.shell.unclear.length === 0;
}

function doubt({ text }: Rule, { subject }: PreparedCall, does: string): string {
  const [unclear] = subject.shell?.unclear ?? [];
  if (unclear !== undefined) return `The rule ${text} ${does}, but the command cannot be analyzed: ${unclear}`;
  if (subject.search === true) return `The rule ${text} ${does}: the search may reach files that it covers.`;
  const [vague] = subject.shell?.vague ?? [];
  if (vague !== undefined)
    return `The rule ${text} ${does}: which files ${shorten(vague)} matches is only known when the command runs.`;
  if (subject.shell?.searched !== undefined)
    return `The rule ${text} ${does}: the command uses a whole directory, which may contain files that the rule covers.`;
  return `The rule ${text} ${does}: what the command does is only known when it runs.`;
}

function unspoken(
  { subject: { shell, tool } }: PreparedCall,
  part: CallPart | undefined,
  allow: readonly Rule[],
): string {
  const [unclear] = shell?.unclear ?? [];
  if (unclear !== undefined) return `The command cannot be analyzed: ${unclear}`;
  if (part?.kind === "redirection") return `No rule covers what it ${part.access === "read" ? "reads" : "writes"}.`;
  const rule = part?.kind === "command" ? allow.find((one) => coversWithoutOptions(one, part)) : undefined;
  if (part?.kind === "command" && rule !== undefined && part.command.effects !== undefined)
    return optionsReason(part.command, rule);
  const words = part?.kind === "command" ? part.command.words.map(({ text }) => text).join(" ") : "";
  return words === "" ? `No rule covers this ${tool} call.` : `No rule covers the command ${shorten(words)}.`;
}

const SHOWN_LENGTH = 80;

function shorten(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

function grantVerdict({ id, rule }: GrantedRule): PermissionVerdict {
  return verdict("allow", `grant:${id}`, `An earlier answer allows this call, saved as ${rule.text}.`);
}

function verdict(behavior: PermissionVerdict["behavior"], decidedBy: string, reason: string): PermissionVerdict {
  return { behavior, decidedBy, reason, rememberable: false, kind: "tool" };
}
