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

/** The model if neither a flag nor the agent nor a settings file names one. */
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

/** Settings of the host, not of the agent. */
export interface Settings {
  /** The engine for agents that name none. */
  readonly engine: EngineName;
  /** Whether a turn interrupted by a crash continues or ends. */
  readonly on_crash: "continue" | "stop";
  /** How often a failed model request is retried. */
  readonly retries: number;
  /** How long the model API may be silent. */
  readonly upstream_idle_ms: number;
  /** How long a session waits for a new credential if its own has expired; 0: it does not. */
  readonly credential_wait_ms: number;
  /** How long an idle agent process is kept. */
  readonly hibernate_after_ms: number;
  /** Limits beyond one session. */
  readonly budgets: BudgetSettings;
  /** Take precedence over the price list. */
  readonly prices: PriceSettings;
  /** Patterns of secrets in addition to the built-in ones. */
  readonly redact: RedactionSettings;
  /** The default provider, and how to reach it. */
  readonly auth: AuthSettings;
  /** Directories that workspaces may be filled from, besides the one a session is started in. Absolute. */
  readonly mount_roots: readonly string[];
  /** How much work the host accepts, and the limits of a server. */
  readonly server: ServerSettingsFile;
  /** Whether hooks run outside their session's sandbox. */
  readonly hooks_outside_sandbox: boolean;
  /** Whether command graders run outside the sandbox of the session they grade. */
  readonly graders_outside_sandbox: boolean;
  /** Whether trusted projects and agent files may loosen the user's own settings. */
  readonly projects_may_loosen: boolean;
}

export interface ReadSettings {
  readonly path: string;
  readonly values: SettingsFile;
  /** The content of all files that were read. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

export type SettingsOwner = "user" | "project";

/** The settings in a directory's `config.yaml`; undefined if it does not exist. An empty one sets nothing. */
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
  // Loaded here because most users have no such file, and every command starts faster without it.
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

/** Silently ignoring a file that looks like settings would hide a mistake. */
function refuseOtherName(directory: string, path: string): undefined {
  const other = OTHER_NAMES.map((name) => join(directory, name)).find((file) => isThere(file));
  if (other !== undefined)
    throw new CapstanError("invalid_input", `${other} is not used. Rename it to ${path} and write it as YAML.`);
}
