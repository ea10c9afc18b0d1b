import { join } from "node:path";
import { z } from "zod";
import { agentDefinition } from "../core/agent-definition.ts";
import { type BudgetSettings, budgetSettings, DEFAULT_RESERVE_OUTPUT_TOKENS } from "../core/budget-schema.ts";
import { environmentDefinition } from "../core/environment.ts";
import { CapstanError } from "../core/errors.ts";
import { type PriceSettings, priceSettings } from "../core/pricing.ts";
import { type RedactionSettings, redactionSettings } from "../core/redaction-schema.ts";
import { type ServerSettingsFile, serverSettings } from "../core/server-schema.ts";
import { layerEnvironment } from "./environment.ts";
import { isThere, readTextFileIfThere } from "./text-file.ts";

const { model, permissions, budget } = agentDefinition.shape;
const rules = permissions.unwrap().shape;
/** A timer of Node that is set for longer fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** Permissions as one layer gives them: what it leaves out is not decided there. */
export const layerPermissions = z.strictObject({
  mode: rules.mode.unwrap().optional(),
  allow: rules.allow.unwrap().optional(),
  ask: rules.ask.unwrap().optional(),
  deny: rules.deny.unwrap().optional(),
  approvals_expire_ms: rules.approvals_expire_ms,
});
export const layerBudget = budget.unwrap();

/** A relative one would be another place in every directory. */
const mountRoots = z.array(z.string().regex(/^(?:\/|~(?:\/|$))/, "an absolute path, or one from ~"));

/** A settings file, as it is written. Every field is optional, and test/config/consumers.test.ts shows what it is for. */
export const settingsFile = z.strictObject({
  model: model.optional(),
  on_crash: z.enum(["continue", "stop"]).optional(),
  retries: z.int().min(0).optional(),
  upstream_idle_ms: z.int().positive().max(MAX_TIMER_MS).optional(),
  hibernate_after_ms: z.int().min(0).max(MAX_TIMER_MS).optional(),
  permissions: layerPermissions.optional(),
  budget: layerBudget.optional(),
  budgets: budgetSettings.optional(),
  prices: priceSettings.optional(),
  redact: redactionSettings.optional(),
  environment: layerEnvironment.optional(),
  /** Only the user's own: what lies there may be copied to where an agent sees it. */
  mount_roots: mountRoots.optional(),
  /** Only the user's own: it is about the whole machine. */
  server: serverSettings.optional(),
});

/** The settings of a project, which others may have written. */
const projectFile = settingsFile.extend({
  mount_roots: settingsFile.shape.mount_roots.refine(
    (given) => given === undefined,
    "only the user's own settings file may have it; a project must not choose which of your directories agents get to see",
  ),
  server: settingsFile.shape.server.refine(
    (given) => given === undefined,
    "only the user's own settings file may have it; it is about the whole machine, and not about one project",
  ),
});

export type SettingsFile = z.infer<typeof settingsFile>;

/** The model when neither a flag nor the agent nor a settings file names one. */
export const DEFAULT_MODEL = "claude-opus-4-8";

export const BUILT_IN_SETTINGS = {
  model: DEFAULT_MODEL,
  on_crash: "stop",
  retries: 6,
  upstream_idle_ms: 120_000,
  hibernate_after_ms: 600_000,
  permissions: { mode: "normal" },
  budget: {},
  budgets: { reserve_output_tokens: DEFAULT_RESERVE_OUTPUT_TOKENS },
  prices: {},
  redact: [],
  environment: environmentDefinition.parse({}),
  mount_roots: [],
  server: {},
} as const satisfies SettingsFile;

/** What is not the agent's but the host's. */
export interface Settings {
  /** Whether a turn that a crash interrupted goes on or ends. */
  readonly on_crash: "continue" | "stop";
  /** How often a failed model request is repeated. */
  readonly retries: number;
  /** How long the model API may stay silent. */
  readonly upstream_idle_ms: number;
  /** How long an idle agent process is kept. */
  readonly hibernate_after_ms: number;
  /** Limits beyond one session. */
  readonly budgets: BudgetSettings;
  /** Prices before those of the list. */
  readonly prices: PriceSettings;
  /** Patterns of secrets beside the built-in ones. */
  readonly redact: RedactionSettings;
  /** Directories that workspaces may be filled from, besides the one a session is started in. Absolute. */
  readonly mount_roots: readonly string[];
  /** How much the host takes on, and what a server lets through. */
  readonly server: ServerSettingsFile;
}

export interface ReadSettings {
  readonly path: string;
  readonly values: SettingsFile;
}

export type SettingsOwner = "user" | "project";

/** The settings in a directory's `config.yaml`; undefined when there is no such file. An empty one decides nothing. */
export async function readSettings(
  directory: string,
  owner: SettingsOwner = "user",
): Promise<ReadSettings | undefined> {
  const path = join(directory, "config.yaml");
  const text = readTextFileIfThere(path, { what: "the settings file", code: "invalid_input" });
  if (text === undefined) return refuseOtherName(directory, path);
  // Loaded here because most users have no such file, and every command starts faster without the parser.
  const { parseYaml } = await import("./yaml-file.ts");
  const schema = owner === "user" ? settingsFile : projectFile;
  return { path, values: parseYaml(text, { file: path, code: "invalid_input", schema, empty: {} }) };
}

const OTHER_NAMES = ["config", "settings"].flatMap((name) =>
  ["yml", "yaml", "json"].map((ending) => `${name}.${ending}`),
);

/** A file that looks like settings and is not read would be a silent mistake. */
function refuseOtherName(directory: string, path: string): undefined {
  const other = OTHER_NAMES.map((name) => join(directory, name)).find((file) => isThere(file));
  if (other !== undefined)
    throw new CapstanError("invalid_input", `${other} is not read. The settings file is ${path}: rename it, as YAML.`);
}
