import type { Budget, Mode, Permissions } from "../core/agent-definition.ts";
import type { BudgetSettings } from "../core/budget-schema.ts";
import { CapstanError } from "../core/errors.ts";
import { problemsOf } from "./problems.ts";
import { BUILT_IN_SETTINGS, type Settings, type SettingsFile, settingsFile } from "./settings.ts";

/** Settings of one origin. */
export interface Layer {
  /** Such as `built in`, `user (path)`, `project (path)`, `agent (path)` or `flag --model`. */
  readonly source: string;
  readonly values: SettingsFile;
}

/** One value of the configuration and where it came from. An entry of a permission list is a value of its own. */
export interface ConfigurationValue {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
}

/** What a command line may set for one session. */
export interface Flags {
  readonly model?: string | undefined;
  readonly mode?: Mode | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly max_usd?: number | undefined;
  /** `budget.steps`: answers of the model in one turn. */
  readonly max_turns?: number | undefined;
  /** `budget.deadline_ms`. */
  readonly timeout_ms?: number | undefined;
}

export const BUILT_IN = "built in";

/** One layer per flag, so that each value knows its flag. */
export function flagLayers(flags: Flags): readonly Layer[] {
  const { model, mode, allow, max_usd: usd, max_turns: steps, timeout_ms: deadline } = flags;
  const layers: readonly (readonly [flag: string, given: unknown, values: unknown])[] = [
    ["--model", model, { model }],
    ["--mode", mode, { permissions: { mode } }],
    ["--allow", allow, { permissions: { allow } }],
    ["--max-usd", usd, { budget: { usd } }],
    ["--max-turns", steps, { budget: { steps } }],
    ["--timeout", deadline, { budget: { deadline_ms: deadline } }],
  ];
  return layers
    .filter(([, given]) => given !== undefined)
    .map(([flag, , values]) => ({ source: `flag ${flag}`, values: checkFlag(flag, values) }));
}

function checkFlag(flag: string, values: unknown): SettingsFile {
  const parsed = settingsFile.safeParse(values);
  if (parsed.success) return parsed.data;
  const [problem] = problemsOf(parsed.error, { schema: settingsFile, value: values });
  throw new CapstanError("invalid_input", `${flag}: ${problem?.text ?? "not valid"}`, { data: { flag } });
}

/** What all layers together say. */
export interface Merged extends Settings {
  readonly model: string;
  readonly permissions: Permissions;
  readonly budget: Budget;
}

/** The last layer wins, value by value; permission lists grow, so that what one layer denies stays denied. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const nothing: Merged = { ...BUILT_IN_SETTINGS, permissions: { mode: "normal", allow: [], ask: [], deny: [] } };
  return layers.reduce(
    (below, { values: above }): Merged => ({
      model: above.model ?? below.model,
      on_crash: above.on_crash ?? below.on_crash,
      retries: above.retries ?? below.retries,
      upstream_idle_ms: above.upstream_idle_ms ?? below.upstream_idle_ms,
      hibernate_after_ms: above.hibernate_after_ms ?? below.hibernate_after_ms,
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
      // The first pattern that fits counts, so that those of the last layer stand first.
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

/** An entry that is not text is the same when it says the same. */
function union<Entry>(below: readonly Entry[], above: readonly Entry[] = []): Entry[] {
  return [...new Map([...below, ...above].map((entry) => [JSON.stringify(entry), entry])).values()];
}

const ORDER = Object.keys(settingsFile.shape);

/** Every value that `mergeLayers` takes, with the layer it takes it from. An entry that several lists have is the first's. */
export function valuesOf(layers: readonly Layer[]): readonly ConfigurationValue[] {
  const taken = new Map<string, ConfigurationValue>();
  for (const { source, values } of layers)
    for (const { key, value, isListed } of leavesOf(values)) {
      const id = isListed ? `${key} ${JSON.stringify(value)}` : key;
      if (!isListed || !taken.has(id)) taken.set(id, { key, value, source });
    }
  const place = ({ key }: ConfigurationValue): number => ORDER.indexOf(key.split(".")[0] ?? "");
  return [...taken.values()].toSorted((a, b) => place(a) - place(b));
}

interface Leaf {
  readonly key: string;
  readonly value: unknown;
  readonly isListed: boolean;
}

function leavesOf(value: unknown, path: readonly string[] = []): Leaf[] {
  const key = path.join(".");
  if (Array.isArray(value)) return value.map((item: unknown) => ({ key, value: item, isListed: true }));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
  return value === undefined ? [] : [{ key, value, isListed: false }];
}
