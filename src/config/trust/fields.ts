/**
 * What every field of a project's files does to an agent's supervision, in one table per kind of file.
 * test/config/trust-fields.test.ts walks the schemas and fails for a field without a row. `*` is any name or entry; a row
 * covers everything below it.
 */

/** How much a field lets an agent do, compared with the layers below. */
export type Rule =
  /** Grants nothing and takes nothing away. */
  | "neutral"
  /** Only ever takes away. */
  | "narrows"
  /** Lets an agent do, spend, reach or see more. */
  | "widens"
  /** Runs code or restricts the agent, or both: leaving it out would not be safe either. Without trust nothing starts. */
  | "required"
  /** A number: a lower one narrows. */
  | "lower"
  /** A number: a higher one narrows. */
  | "higher"
  /** A list that replaces the one below: an entry that is not there widens. */
  | "subset"
  /** A list that is added to the one below: an entry that is not there widens. */
  | "added"
  /** The same value as below, or it widens. */
  | "same"
  /** The same, where there is a value below. */
  | "unless below"
  /** Words from the widest to the strictest. */
  | readonly string[]
  | "model"
  | "tools"
  | "workspace"
  /** Answers of a suite: one that allows something is required. */
  | "answers"
  /** Checked before: only the user's own settings file may have it. */
  | "user only";

export type Rules = Readonly<Record<string, Rule>>;

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
} as const satisfies Rules;

function below(path: string, rules: Rules): Rules {
  return Object.fromEntries(Object.entries(rules).map(([field, rule]) => [`${path}.${field}`, rule]));
}

const PERMISSIONS = {
  "permissions.mode": MODE_ORDER,
  "permissions.allow": "added",
  "permissions.ask": "narrows",
  "permissions.deny": "narrows",
  "permissions.approvals_expire_ms": "lower",
} as const satisfies Rules;

const BUDGET = below("budget", { ...LIMITS, steps: "lower" });

const BUDGETS = {
  ...below("budgets.project", LIMITS),
  ...below("budgets.day", { ...LIMITS, time_zone: "unless below" }),
  ...below("budgets.agents.*", LIMITS),
  "budgets.reserve_output_tokens": "higher",
} as const satisfies Rules;

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
export const SETTINGS_RULES: Rules = {
  // Every engine passes the same gate, sandbox, budgets and hooks, and is refused what it cannot keep to.
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
export const AGENT_RULES: Rules = {
  $schema: "neutral",
  // What it says is judged with the rest; where it lies, in agent-files.ts.
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
  // It can only make contexts smaller than they would be.
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
  // A suite of its own, judged by SUITE_RULES when it is run.
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
} as const satisfies Rules;

/** A suite. Without one of its parts it would be another test: whatever widens is required. */
export const SUITE_RULES: Rules = {
  $schema: "neutral",
  suite: "neutral",
  description: "neutral",
  // It is trusted, or not, by itself.
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

/** What the user's own settings say of these is a bound that no project and no agent file loosens, trusted or not. */
export const BOUND_BY_USER: Rules = {
  "permissions.mode": MODE_ORDER,
  "permissions.approvals_expire_ms": "lower",
  ...BUDGET,
  ...BUDGETS,
  prices: "same",
  "environment.checkpoints.mode": ["off", "on", "required"],
};

/** The rule for a path, or for what it lies in; undefined when there is none. */
export function ruleAt(rules: Rules, path: readonly string[]): Rule | undefined {
  for (let length = path.length; length > 0; length--) {
    const found = matching(rules, path.slice(0, length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name before a star: `graders.*.command` before `graders.*.*`. */
function matching(rules: Rules, path: readonly string[]): Rule | undefined {
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
