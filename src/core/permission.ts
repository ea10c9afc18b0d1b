import type { Mode, Permissions } from "./agent-definition.ts";

/**
 * Whether a tool call may run: one pure function for every engine and every tool. The order of the checks is the
 * design's; tool rules are bare names so far.
 */
export interface PermissionQuery {
  readonly tool: string;
  readonly mode: Mode;
  readonly rules: Permissions;
  readonly traits: ToolTraits;
}

export interface ToolTraits {
  readonly readOnly: boolean;
  readonly edit: boolean;
  readonly safeInternal: boolean;
  /** Everything the call names lies in the workspace. */
  readonly inside: boolean;
}

export interface PermissionVerdict {
  readonly behavior: "allow" | "deny" | "ask";
  /** The rule or mode that decided, such as `rule:deny Bash` or `mode:yolo`. */
  readonly decidedBy: string;
  readonly reason: string;
}

export function decide({ tool, mode, rules, traits }: PermissionQuery): PermissionVerdict {
  if (rules.deny.includes(tool)) return verdict("deny", `rule:deny ${tool}`, `A rule denies ${tool}.`);
  if ((mode === "read-only" || mode === "plan") && !traits.readOnly)
    return verdict("deny", `mode:${mode}`, `${tool} may change something, and the session is in ${mode} mode.`);
  if (rules.ask.includes(tool)) return verdict("ask", `rule:ask ${tool}`, `A rule asks before ${tool}.`);
  if (rules.allow.includes(tool)) return verdict("allow", `rule:allow ${tool}`, `A rule allows ${tool}.`);
  if (traits.safeInternal) return verdict("allow", "tool:safe-internal", `${tool} is marked safe.`);
  if (mode === "accept-edits" && traits.edit && traits.inside)
    return verdict("allow", "mode:accept-edits", "Edits are accepted in this mode.");
  if (mode === "yolo") return verdict("allow", "mode:yolo", "Everything not denied is allowed in this mode.");
  if (traits.readOnly && traits.inside)
    return verdict("allow", "tool:read-only", `${tool} only reads, and in the workspace.`);
  return verdict("ask", "default:ask", `No rule speaks of ${tool}.`);
}

function verdict(behavior: PermissionVerdict["behavior"], decidedBy: string, reason: string): PermissionVerdict {
  return { behavior, decidedBy, reason };
}

/** Answers an `ask`: a person, or the program that uses the library. */
export type AskPermission = (question: PermissionQuestion) => Promise<PermissionAnswer> | PermissionAnswer;

export interface PermissionQuestion {
  readonly sessionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The subagent that asks; undefined for the primary line. */
  readonly agent: string | undefined;
  readonly askedBy: string;
  readonly signal: AbortSignal;
}

export type PermissionAnswer =
  | { readonly behavior: "allow"; readonly input?: Record<string, unknown>; readonly by?: string }
  | { readonly behavior: "deny"; readonly message?: string; readonly by?: string };
