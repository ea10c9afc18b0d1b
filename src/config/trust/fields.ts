/**
 * How every field of a project's files affects an agent's supervision, in one table per kind of file.
 * test/config/trust-fields.test.ts walks the schemas and fails for a field without a row. `*` is any name or entry; a
 * row covers everything below it.
 */

/** How much a field allows, compared with the layers below. */
export type FieldRule =
  /** Neither grants nor restricts anything. */
  | "neutral"
  /** Only restricts. */
  | "narrows"
  /** Lets an agent do, spend, reach or see more. */
  | "widens"
  /** Runs code, restricts the agent, or both: omitting it would not be safe either. Nothing starts without trust. */
  | "required"
  /** A number: a lower one narrows. */
  | "lower"
  /** A number: a higher one narrows. */
  | "higher"
  /** A list that replaces the one below: a new entry widens. */
  | "subset"
  /** A list that is joined with the one below: a new entry widens. */
  | "added"
  /** Widens unless it is the same value as below. */
  | "same"
  /** The same, if there is a value below. */
  | "unless below"
  /** Values from the widest to the strictest. */
  | readonly string[]
  | "model"
  | "tools"
  | "workspace"
  /** Answers of a suite: one that allows something is required. */
  | "answers"
  /** Already checked: only allowed in the user's own settings file. */
  | "user only";

export type FieldRules = Readonly<Record<string, FieldRule>>;

const MODE_ORDER = ["yolo", "accept-edits", "normal", "plan", "read-only"] as const;

const LIMITS = {
  usd: "lower",
  tokens: "lower",
  input_tokens: "lower",
  output_tokens: "lower",
  cache_tokens: "lower",
  turns: "lower",
  tool_calls: "lower",
  deadline_ms: "lower",
  warn_at: "lower",
  ask_at: "lower",
} as const satisfies FieldRules;

function below(path: string, rules: FieldRules): FieldRules {
  return Object.fromEntries(Object.entries(rules).map(([field, rule]) => [`${path}.${field}`, rule]));
}

const PERMISSIONS = {
  "permissions.mode": MODE_ORDER,
  "permissions.allow": "added",
  "permissions.ask": "narrows",
  "permissions.deny": "narrows",
  "permissions.approvals_expire_ms": "lower",
} as const satisfies FieldRules;

const BUDGET = below("budget", { ...LIMITS, steps: "lower" });

const BUDGETS = {
  ...below("budgets.project", LIMITS),
  ...below("budgets.day", { ...LIMITS, time_zone: "unless below" }),
  ...below("budgets.agents.*", LIMITS),
  "budgets.reserve_output_tokens": "higher",
} as const satisfies FieldRules;

const ENVIRONMENT = below("environment", {
  workspace: "workspace",
  "checkpoints.mode": ["off", "on", "required"],
  "checkpoints.max_file_bytes": "higher",
  "checkpoints.max_files": "higher",
  "checkpoints.max_bytes": "higher",
  "checkpoints.exclude": "added",
  "sandbox.mode": ["off", "preferred", "required"],
  "sandbox.auto_allow_sandboxed": ["true", "false"],
  "sandbox.network.allow": "subset",
  "sandbox.deny_read": "narrows",
  "sandbox.allow_read": "subset",
  "sandbox.deny_write": "narrows",
  "sandbox.allow_write": "subset",
  "sandbox.hide_variables": "narrows",
  "sandbox.excluded_commands": "subset",
  "sandbox.unix_sockets": "subset",
  "limits.memory_bytes": "lower",
  "limits.processes": "lower",
  "limits.cpu_seconds": "lower",
  variables: "widens",
});

/** `config.yaml` of a project. */
export const SETTINGS_RULES: FieldRules = {
  // All engines have the same gate, sandbox, budgets and hooks, and are refused what they can't enforce.
  engine: "neutral",
  model: "model",
  on_crash: ["continue", "stop"],
  retries: "lower",
  upstream_idle_ms: "lower",
  credential_wait_ms: "lower",
  hibernate_after_ms: "lower",
  ...PERMISSIONS,
  ...BUDGET,
  ...BUDGETS,
  prices: "widens",
  redact: "narrows",
  "auth.provider": "same",
  "auth.base_url": "user only",
  "auth.credential_command": "user only",
  ...ENVIRONMENT,
  mount_roots: "user only",
  server: "user only",
  hooks_outside_sandbox: "user only",
  graders_outside_sandbox: "user only",
  projects_may_loosen: "user only",
};

/** An agent file, together with the files that it extends. */
export const AGENT_RULES: FieldRules = {
  $schema: "neutral",
  // Its content is judged with the rest; its path, in agent-files.ts.
  extends: "neutral",
  name: "neutral",
  description: "neutral",
  instructions: "neutral",
  instructions_mode: "neutral",
  inputs: "neutral",
  // As in the settings.
  engine: "neutral",
  model: "model",
  fallback_model: "model",
  effort: ["max", "xhigh", "high", "medium", "low"],
  thinking: ["budget", "adaptive", "disabled"],
  // It can only make contexts smaller.
  compact_at: "neutral",
  auth: "same",
  tools: "tools",
  functions: "required",
  mcp_servers: "required",
  custom_tools: "neutral",
  ...PERMISSIONS,
  ...BUDGET,
  "subagents.*.description": "neutral",
  "subagents.*.instructions": "neutral",
  "subagents.*.tools": "tools",
  "subagents.*.model": "model",
  skills: "widens",
  commands: "neutral",
  hooks: "required",
  output_schema: "neutral",
  setting_sources: "neutral",
  // Its own suite, judged by SUITE_RULES when it runs.
  tests: "neutral",
  ...ENVIRONMENT,
};

const CASE = {
  files: "neutral",
  tags: "neutral",
  // As for an agent.
  engine: "neutral",
  // They cost something only with --live or --record, each within the agent's own budget.
  trials: "neutral",
  pass_rate: "neutral",
  timeout: "neutral",
  fixture: "neutral",
  git: "neutral",
  answers: "answers",
  inputs: "neutral",
  variables: "required",
  "graders.*.command": "required",
  "graders.*.code": "required",
  "graders.*.*": "neutral",
  ignore: "neutral",
} as const satisfies FieldRules;

/** A suite. Without one of its parts it would be a different test: everything that widens is required. */
export const SUITE_RULES: FieldRules = {
  $schema: "neutral",
  suite: "neutral",
  description: "neutral",
  // It is trusted separately.
  agent: "neutral",
  ...below("defaults", CASE),
  judge: "neutral",
  gates: "neutral",
  margins: "neutral",
  ...below("cases.*", {
    name: "neutral",
    description: "neutral",
    ...CASE,
    workspace: "neutral",
    input: "neutral",
    turns: "neutral",
    stop_reason: "neutral",
    faults: "neutral",
    only: "neutral",
    skip: "neutral",
  }),
};

/**
 * Where the user's own settings set these, they are a bound that no project and no agent file can loosen, trusted or
 * not.
 */
export const BOUND_BY_USER: FieldRules = {
  "permissions.mode": MODE_ORDER,
  "permissions.approvals_expire_ms": "lower",
  ...BUDGET,
  ...BUDGETS,
  prices: "same",
  "environment.checkpoints.mode": ["off", "on", "required"],
};

/** The rule for a path, or for one of its parents; undefined if there is none. */
export function ruleAt(rules: FieldRules, path: readonly string[]): FieldRule | undefined {
  for (let length = path.length; length > 0; length--) {
    const found = matching(rules, path.slice(0, length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name takes precedence over a star: `graders.*.command` over `graders.*.*`. */
function matching(rules: FieldRules, path: readonly string[]): FieldRule | undefined {
  const exact = rules[path.join(".")];
  if (exact !== undefined) return exact;
  const fitting = Object.keys(rules).filter((pattern) => {
    const steps = pattern.split(".");
    return steps.length === path.length && steps.every((step, index) => step === "*" || step === path[index]);
  });
  const best = fitting.toSorted((a, b) => starsIn(a) - starsIn(b))[0];
  return best === undefined ? undefined : rules[best];
}

function starsIn(pattern: string): number {
  return pattern.split("*").length;
}
