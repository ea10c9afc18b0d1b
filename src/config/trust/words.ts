import { createRedactor } from "../../core/redaction/redaction.ts";
import { redactVariable } from "../../core/session/redaction-session.ts";
import type { TrustKind } from "./trust-item.ts";
import type { Widening } from "./judge.ts";

const redactor = createRedactor();

/** What a field does, for the person who decides. The longest matching prefix of the field's path applies. */
const MEANS: Readonly<Record<string, string>> = {
  model: "uses another model, which may cost more",
  fallback_model: "uses another model, which may cost more",
  effort: "lets the model spend more tokens",
  thinking: "lets the model spend more tokens",
  on_crash: "continues interrupted turns automatically",
  retries: "retries failed model requests more often",
  upstream_idle_ms: "waits longer for the model",
  credential_wait_ms: "waits longer for a credential",
  hibernate_after_ms: "keeps idle agent processes longer",
  "permissions.mode": "lets more tool calls run without asking",
  "permissions.allow": "lets these tool calls run without asking",
  "permissions.approvals_expire_ms": "keeps approvals open longer",
  budget: "raises a session's limit",
  budgets: "raises a limit of the project",
  prices: "changes the prices that usage is counted with",
  auth: "sends requests to another provider",
  "environment.workspace": "changes which files the agent works on",
  "environment.checkpoints": "makes fewer changes restorable",
  "environment.sandbox.mode": "weakens the sandbox",
  "environment.sandbox.auto_allow_sandboxed": "runs sandboxed commands without asking",
  "environment.sandbox.network.allow": "lets commands reach these domains",
  "environment.sandbox.allow_read": "lets sandboxed commands read these paths",
  "environment.sandbox.allow_write": "lets sandboxed commands write these paths",
  "environment.sandbox.excluded_commands": "runs these commands outside the sandbox",
  "environment.sandbox.unix_sockets": "lets commands connect to these sockets",
  "environment.limits": "raises a limit on the agent's processes",
  "environment.variables": "sets variables for the agent's commands",
  tools: "adds tools that reach beyond the workspace",
  subagents: "adds tools that reach beyond the workspace, or another model",
  functions: "runs code in Capstan's own process",
  mcp_servers: "starts programs or connects to servers",
  skills: "adds skills",
  hooks: "runs commands around the agent's work",
  name: "gives the agent a name that no agent budget covers",
  file: "reads a file outside the project",
  changed: "may have lost restrictions that it had when you trusted it",
  fixture: "copies a directory from outside the project",
  defaults: "answers approvals, sets variables or runs code",
  cases: "answers approvals, sets variables or runs code",
};

function meaning(field: string): string {
  const steps = field.split(".");
  for (let length = steps.length; length > 0; length--) {
    const found = MEANS[steps.slice(0, length).join(".")];
    if (found !== undefined) return found;
  }
  return "sets a variable for Capstan and its agents";
}

/** Such as `permissions.mode: yolo (now normal) — lets more tool calls run without asking`. */
export function wideningText({ field, value, instead }: Widening): string {
  const now = instead === undefined || typeof instead === "object" ? "" : ` (now ${JSON.stringify(instead)})`;
  return `${field}: ${valueText(field, value, MAX_DECIDED)}${now} — ${meaning(field)}`;
}

/** Characters: in a list of all values, and where a person must see what they trust. */
const MAX_LISTED = 300;
const MAX_DECIDED = 10_000;

/** Never a secret, and no longer than a person reads. */
export function valueText(field: string, value: unknown, limit = MAX_LISTED): string {
  const hidden = /(?:^|\.)(?:variables|env|headers)$/.test(field) ? withoutValues(value) : withoutHidden(value);
  const text = typeof hidden === "string" ? hidden : JSON.stringify(hidden);
  const shown = redactor.text(text ?? "");
  const more = shown.length - limit;
  return more > 0 ? `${shown.slice(0, limit)}… (${more.toLocaleString("en-US")} more characters)` : shown;
}

function withoutValues(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, redactVariable(name, String(one))]));
}

/** Values for programs and servers may contain secrets; for skills, the names are enough. */
function withoutHidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHidden);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (["env", "headers", "variables"].includes(key)) return [key, withoutValues(one)];
      return [key, key === "files" ? Object.keys(Object(one)) : withoutHidden(one)];
    }),
  );
}

export const KIND_WORDS: Readonly<Record<TrustKind, string>> = {
  settings: "project settings",
  variables: "variables",
  agent: "agent file",
  suite: "suite",
};
