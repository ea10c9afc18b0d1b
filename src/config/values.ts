import { join } from "node:path";
import { createRedactor } from "../core/redaction/redaction.ts";
import { redactVariable } from "../core/session/redaction-session.ts";
import type { AgentAsWritten } from "./agent/agent-file.ts";
import type { HomeDirectory } from "./project/home.ts";
import { BUILT_IN, type Layer, type Merged } from "./settings/layers.ts";
import type { Withheld } from "./trust/no-widening.ts";
import type { Project } from "./project/project.ts";
import { settingsFile } from "./settings/settings-schema.ts";
import { valueText } from "./trust/words.ts";
import type { Variables } from "./variables/variables.ts";

/** One value of the configuration and its source. Each entry of a permission list is a separate value. */
export interface ConfigurationValue {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
  /** Why it has no effect; absent if it has. */
  readonly withheld?: string;
}

/** All sources. */
export interface Origins {
  readonly home: HomeDirectory;
  readonly project: Project;
  readonly agent: { readonly source: string; readonly written: AgentAsWritten };
  readonly layers: readonly Layer[];
  readonly merged: Merged;
  readonly variables: Variables;
  readonly withheld: readonly Withheld[];
}

/** Every value of a configuration, and what set it. */
export function allValues(origins: Origins): readonly ConfigurationValue[] {
  const { home, project, agent, layers, merged, variables, withheld } = origins;
  const projectSource = project.root === undefined ? BUILT_IN : `project (${join(project.root, ".capstan")})`;
  return [
    { key: "home", value: home.path, source: home.source },
    { key: "project", value: project.id, source: projectSource },
    ...agentValues(agent),
    ...settingValues(layers, merged),
    ...addressValue(variables),
    ...withheld.map(({ field, value, source, reason }) => ({
      key: field,
      value: valueText(field, value),
      source,
      withheld: REASONS[reason],
    })),
  ];
}

const REASONS = {
  untrusted: "not trusted; run capstan trust",
  "user settings": "your own settings are stricter; see projects_may_loosen",
} as const satisfies Record<Withheld["reason"], string>;

/** Values that only the agent sets. For large values, and those that may contain a secret, only the names. */
function agentValues({ written, source }: Origins["agent"]): readonly ConfigurationValue[] {
  const { name, instructions = "", tools = [], ...rest } = written;
  const {
    engine: _engine,
    model: _model,
    permissions: _permissions,
    budget: _budget,
    environment: _environment,
    ...others
  } = rest;
  const value = (key: string, given: unknown): ConfigurationValue => ({
    key,
    value: given,
    source: Object.hasOwn(written, key) ? source : BUILT_IN,
  });
  return [
    value("name", name),
    value("instructions", instructions),
    value("tools", tools),
    ...Object.entries(others).map(([key, given]) => value(key, ONLY_NAMES.has(key) ? Object.keys(given) : given)),
  ];
}

const ONLY_NAMES: ReadonlySet<string> = new Set(["mcp_servers", "skills", "commands"]);

/** Only scheme, host and port: people put passwords into URLs, which the gateway refuses later. */
function addressValue({ address, environment }: Variables): readonly ConfigurationValue[] {
  if (address === undefined) return [];
  const origin = URL.parse(environment[address.name]?.trim() ?? "")?.origin;
  const source = address.source === "shell" ? `environment ${address.name}` : `.env (${address.source})`;
  return [{ key: address.name, value: origin ?? "not a URL", source }];
}

const ORDER = Object.keys(settingsFile.shape);

/**
 * Every value that `mergeLayers` created from the layers, with the last layer that sets it; for a list entry, with the
 * first.
 */
function settingValues(layers: readonly Layer[], merged: Merged): readonly ConfigurationValue[] {
  const sources = new Map<string, string>();
  for (const { source, values } of layers)
    for (const leaf of leavesOf(values))
      if (!leaf.isListed || !sources.has(idOf(leaf))) sources.set(idOf(leaf), source);
  return leavesOf(merged)
    .toSorted((a, b) => rankOf(a) - rankOf(b))
    .map((leaf) => ({ key: leaf.key, value: withoutSecret(leaf), source: sources.get(idOf(leaf)) ?? BUILT_IN }));
}

/** Values are sorted as in the settings file. */
function rankOf({ key }: Leaf): number {
  return ORDER.indexOf(key.split(".")[0] ?? "");
}

function idOf({ key, value }: Leaf): string {
  return `${key} ${JSON.stringify(value)}`;
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

const VARIABLE = /^environment\.variables\.(\w+)$/;
const redactor = createRedactor();

/** A variable may be a key, and an address or a command may contain a password. */
function withoutSecret({ key, value }: Leaf): unknown {
  if (typeof value !== "string" || !/^(?:environment|auth)\./.test(key)) return value;
  const [, name] = VARIABLE.exec(key) ?? [];
  return name === undefined ? redactor.text(value) : redactVariable(name, value);
}
