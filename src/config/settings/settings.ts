import { join } from "node:path";
import type { AuthSettings } from "../../core/auth/auth-schema.ts";
import { type BudgetSettings, DEFAULT_RESERVE_OUTPUT_TOKENS } from "../../core/money/budget-schema.ts";
import { environmentDefinition } from "../../core/environment/environment.ts";
import { DEFAULT_ENGINE, type EngineName } from "../../core/agent/engine-name.ts";
import { CapstanError } from "../../core/errors.ts";
import type { PriceSettings } from "../../core/money/pricing.ts";
import type { RedactionSettings } from "../../core/redaction/redaction-schema.ts";
import type { ServerSettingsFile } from "../../core/environment/server-schema.ts";
import type { SettingsFile } from "./settings-schema.ts";
import { isThere, notingReads, readTextFileIfThere } from "../yaml/text-file.ts";

/** The model when neither a flag nor the agent nor a settings file names one. */
export const DEFAULT_MODEL = "claude-opus-4-8";

export const BUILT_IN_SETTINGS = {
  engine: DEFAULT_ENGINE,
  model: DEFAULT_MODEL,
  on_crash: "stop",
  retries: 6,
  upstream_idle_ms: 120_000,
  credential_wait_ms: 1_800_000,
  hibernate_after_ms: 600_000,
  permissions: { mode: "normal" },
  budget: {},
  budgets: { reserve_output_tokens: DEFAULT_RESERVE_OUTPUT_TOKENS },
  prices: {},
  redact: [],
  auth: {},
  environment: environmentDefinition.parse({}),
  mount_roots: [],
  server: {},
  hooks_outside_sandbox: false,
  graders_outside_sandbox: false,
  projects_may_loosen: false,
} as const satisfies SettingsFile;

/** What is not the agent's but the host's. */
export interface Settings {
  /** What runs agents that name no engine. */
  readonly engine: EngineName;
  /** Whether a turn that a crash interrupted goes on or ends. */
  readonly on_crash: "continue" | "stop";
  /** How often a failed model request is repeated. */
  readonly retries: number;
  /** How long the model API may stay silent. */
  readonly upstream_idle_ms: number;
  /** How long a session whose credential has expired waits for another one; 0: it does not. */
  readonly credential_wait_ms: number;
  /** How long an idle agent process is kept. */
  readonly hibernate_after_ms: number;
  /** Limits beyond one session. */
  readonly budgets: BudgetSettings;
  /** Prices before those of the list. */
  readonly prices: PriceSettings;
  /** Patterns of secrets beside the built-in ones. */
  readonly redact: RedactionSettings;
  /** Whose model API is used where the agent does not say, and how to get there. */
  readonly auth: AuthSettings;
  /** Directories that workspaces may be filled from, besides the one a session is started in. Absolute. */
  readonly mount_roots: readonly string[];
  /** How much the host takes on, and what a server lets through. */
  readonly server: ServerSettingsFile;
  /** Whether hooks run outside the sandbox of their session. */
  readonly hooks_outside_sandbox: boolean;
  /** Whether command graders run outside the sandbox of the session they grade. */
  readonly graders_outside_sandbox: boolean;
  /** Whether trusted projects and agent files may loosen what the user's own settings say. */
  readonly projects_may_loosen: boolean;
}

export interface ReadSettings {
  readonly path: string;
  readonly values: SettingsFile;
  /** What was read, byte for byte. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export type SettingsOwner = "user" | "project";

/** The settings in a directory's `config.yaml`; undefined when there is no such file. An empty one decides nothing. */
export async function readSettings(
  directory: string,
  owner: SettingsOwner = "user",
): Promise<ReadSettings | undefined> {
  const path = join(directory, "config.yaml");
  const { value: text, files } = notingReads(() =>
    readTextFileIfThere(path, { what: "the settings file", code: "invalid_input" }),
  );
  if (text === undefined) return refuseOtherName(directory, path);
  return { path, values: await parseSettings(text, { path, owner }), files };
}

export async function parseSettings(
  text: string,
  { path, owner }: { readonly path: string; readonly owner: SettingsOwner },
): Promise<SettingsFile> {
  // Loaded here because most users have no such file, and every command starts faster without these.
  const [{ parseYaml }, { projectFile, settingsFile }] = await Promise.all([
    import("../yaml/yaml-file.ts"),
    import("./settings-schema.ts"),
  ]);
  const schema = owner === "user" ? settingsFile : projectFile;
  return parseYaml(text, { file: path, code: "invalid_input", schema, empty: {} });
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
