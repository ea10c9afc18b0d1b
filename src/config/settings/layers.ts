import type { Budget, Mode, Permissions } from "../../core/agent/agent-definition.ts";
import { mergeAuth } from "../../core/auth/auth-schema.ts";
import type { BudgetSettings } from "../../core/money/budget-schema.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import type {
  EnvironmentDefinition,
  EnvironmentInput,
  SandboxSettings,
  WorkspaceKind,
} from "../../core/environment/environment.ts";
import { mergeEnvironment } from "./environment.ts";
import type { Environment } from "../project/home.ts";
import { BUILT_IN_SETTINGS, type Settings } from "./settings.ts";
import type { SettingsFile } from "./settings-schema.ts";
import { union } from "./union.ts";

/** Settings from one source. */
export interface Layer {
  /** Such as `built in`, `user (path)`, `project (path)`, `agent (path)` or `flag --model`. */
  readonly source: string;
  readonly values: SettingsFile;
  /** The origin: the user, in settings or flags of one session, or others. Absent for built-in values. */
  readonly by?: "user" | "others" | "flag";
}

/** What a command line can set for one session. */
export interface Flags {
  readonly engine?: EngineName | undefined;
  readonly model?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly max_usd?: number | undefined;
  /** `budget.steps`: model answers in one turn. */
  readonly max_steps?: number | undefined;
  /** `budget.deadline_ms`. */
  readonly timeout_ms?: number | undefined;
  /** `environment.workspace`, for the session's own directory. */
  readonly workspace?: WorkspaceKind | undefined;
  /** `environment.sandbox.mode`. */
  readonly sandbox?: SandboxSettings["mode"] | undefined;
}

export const BUILT_IN = "built in";

/** The default of each kind of workspace: for a copy, everything in the directory that git does not ignore. */
const PLAIN_WORKSPACES = {
  "in-place": { kind: "in-place" },
  copy: { kind: "copy", mounts: [{ source: ".", target: ".", gitignore: true }] },
  worktree: { kind: "worktree" },
  clone: { kind: "clone" },
} as const satisfies Record<WorkspaceKind, EnvironmentInput["workspace"]>;

/** One layer per flag, so that each value has its flag as the source. */
export async function flagLayers(flags: Flags): Promise<readonly Layer[]> {
  const {
    engine,
    model,
    mode,
    allow,
    max_usd: usd,
    max_steps: steps,
    timeout_ms: deadline,
    workspace,
    sandbox,
  } = flags;
  const layers: readonly (readonly [flag: string, given: unknown, values: unknown])[] = [
    ["--engine", engine, { engine }],
    ["--model", model, { model }],
    ["--mode", mode, { permissions: { mode } }],
    ["--allow", allow, { permissions: { allow } }],
    ["--max-usd", usd, { budget: { usd } }],
    ["--max-steps", steps, { budget: { steps } }],
    ["--timeout", deadline, { budget: { deadline_ms: deadline } }],
    ["--workspace", workspace, { environment: { workspace: workspace && PLAIN_WORKSPACES[workspace] } }],
    ["--sandbox", sandbox, { environment: { sandbox: { mode: sandbox } } }],
  ];
  const given = layers.filter(([, value]) => value !== undefined);
  if (given.length === 0) return [];
  const { checkedFlag } = await import("./flag-check.ts");
  return given.map(([flag, , values]) => ({ source: `flag ${flag}`, values: checkedFlag(flag, values), by: "flag" }));
}

/** The engine set by a variable, for agents that name none. */
export async function variableLayers({ CAPSTAN_ENGINE: engine }: Environment): Promise<readonly Layer[]> {
  if (!engine) return [];
  const { checkedFlag } = await import("./flag-check.ts");
  const values = checkedFlag("CAPSTAN_ENGINE", { engine });
  return [{ source: "environment CAPSTAN_ENGINE", values, by: "flag" }];
}

/** The result of merging all layers. */
export interface Merged extends Settings {
  readonly model: string;
  readonly permissions: Permissions;
  readonly budget: Budget;
  readonly environment: EnvironmentDefinition;
}

/** The last layer wins, value by value; permission lists are joined, so that what one layer denies stays denied. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const nothing: Merged = { ...BUILT_IN_SETTINGS, permissions: { mode: "normal", allow: [], ask: [], deny: [] } };
  return layers.reduce(
    (below, { values: above }): Merged => ({
      engine: above.engine ?? below.engine,
      model: above.model ?? below.model,
      on_crash: above.on_crash ?? below.on_crash,
      retries: above.retries ?? below.retries,
      upstream_idle_ms: above.upstream_idle_ms ?? below.upstream_idle_ms,
      credential_wait_ms: above.credential_wait_ms ?? below.credential_wait_ms,
      hibernate_after_ms: above.hibernate_after_ms ?? below.hibernate_after_ms,
      mount_roots: above.mount_roots ?? below.mount_roots,
      server: above.server ?? below.server,
      hooks_outside_sandbox: above.hooks_outside_sandbox ?? below.hooks_outside_sandbox,
      graders_outside_sandbox: above.graders_outside_sandbox ?? below.graders_outside_sandbox,
      projects_may_loosen: above.projects_may_loosen ?? below.projects_may_loosen,
      permissions: {
        mode: above.permissions?.mode ?? below.permissions.mode,
        allow: union(below.permissions.allow, above.permissions?.allow),
        ask: union(below.permissions.ask, above.permissions?.ask),
        deny: union(below.permissions.deny, above.permissions?.deny),
        ...expiry(above.permissions ?? {}, below.permissions),
      },
      budget: { ...below.budget, ...above.budget },
      budgets: mergeBudgets(below.budgets, above.budgets),
      redact: union(below.redact, above.redact),
      auth: mergeAuth(below.auth, above.auth),
      environment: mergeEnvironment(below.environment, above.environment),
      // The first matching pattern applies, so those of the last layer come first.
      prices: { ...above.prices, ...without(below.prices, Object.keys(above.prices ?? {})) },
    }),
    nothing,
  );
}

function expiry(...layers: readonly Pick<Permissions, "approvals_expire_ms">[]): Partial<Permissions> {
  const given = layers.find((layer) => layer.approvals_expire_ms !== undefined)?.approvals_expire_ms;
  return given === undefined ? {} : { approvals_expire_ms: given };
}

function mergeBudgets(below: BudgetSettings, above: BudgetSettings = {}): BudgetSettings {
  const agents = new Set([...Object.keys(below.agents ?? {}), ...Object.keys(above.agents ?? {})]);
  return {
    ...below,
    ...above,
    ...((below.project ?? above.project) && { project: { ...below.project, ...above.project } }),
    ...((below.day ?? above.day) && { day: { ...below.day, ...above.day } }),
    ...(agents.size > 0 && {
      agents: Object.fromEntries(
        [...agents].map((name) => [name, { ...below.agents?.[name], ...above.agents?.[name] }]),
      ),
    }),
  };
}

function without<Value>(record: Readonly<Record<string, Value>>, keys: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)));
}
