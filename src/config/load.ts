import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { type AgentDefinition, parseAgent } from "../core/agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../core/environment/environment.ts";
import { DEFAULT_ENGINE } from "../core/agent/engine-name.ts";
import { CapstanError } from "../core/errors.ts";
import type { AgentAsWritten, ExaminedAgent, FieldProblem, ReadAgent } from "./agent/agent-file.ts";
import { agentPath as pathOfAgent } from "./agent/agent-path.ts";
import { type Environment, homeDirectory } from "./project/home.ts";
import { BUILT_IN, type Flags, flagLayers, type Layer, mergeLayers, variableLayers } from "./settings/layers.ts";
import { type Withheld, withoutWidening } from "./trust/no-widening.ts";
import { secretFilesOf } from "./variables/private-files.ts";
import { findProject, type Project } from "./project/project.ts";
import { BUILT_IN_SETTINGS, parseSettings, readSettings, type Settings } from "./settings/settings.ts";
import type { SettingsFile } from "./settings/settings-schema.ts";
import { notingReads, type Reads } from "./yaml/text-file.ts";
import type { TrustedBefore } from "./trust/trust-book.ts";
import { type JudgedItem, narrowing, TrustGate } from "./trust/trust-gate.ts";
import { sha256Of, realPathOrSame, type TrustItem } from "./trust/trust-item.ts";
import { recordedTrust } from "./trust/recorded-trust.ts";
import type { ConfigurationValue } from "./values.ts";
import { namedProviders, storedCredentialsPath } from "./variables/stored-credentials.ts";
import { credentialsOf, readVariables, type SetVariable, type Variables } from "./variables/variables.ts";

export interface LoadOptions {
  /** Where the session works; its project is searched from here upwards. */
  readonly cwd: string;
  /** The shell's variables. */
  readonly environment: Environment;
  readonly flags: Flags;
  /** Relative to `cwd`; for a directory, its agent.yaml (default: the built-in agent). */
  readonly agentFile?: string | undefined;
  /** Finds further problems with the agent in an agent file, reported together with the file's own. */
  readonly problemsWith?: (agent: AgentDefinition) => Promise<readonly FieldProblem[]>;
  /** Which of the project's files are trusted. Default: what a person has trusted, as recorded in Capstan's home. */
  readonly trust?: Trusting | undefined;
  /** Nothing is started with it, so a file that requires trust is only listed in `withheld`. */
  readonly isOnlyShown?: boolean;
}

export interface Trusting {
  readonly isTrusted: (item: TrustItem) => boolean;
  /** What was last trusted at the same path (default: nothing). */
  readonly before?: TrustedBefore | undefined;
  /**
   * Asks a person about everything untrusted that widens permissions; returns whether they trust exactly that. Throws
   * to stop.
   */
  readonly ask?: ((items: readonly TrustItem[]) => Promise<boolean>) | undefined;
}

export interface Configuration {
  readonly home: string;
  readonly project: Project;
  /** The shell's variables over those of the project's `.env`. Contains credentials: do not show, log or save it. */
  readonly environment: Environment;
  /** The project's `.env`, and which variables came from it. */
  readonly dotEnv: Variables["dotEnv"];
  /** The agent with the model, permissions and budget from settings and flags. */
  readonly agent: AgentDefinition;
  /** What was read, if an agent file was given. */
  readonly agentFile: ReadAgent | undefined;
  /** Where and how its sessions work. */
  readonly sessionEnvironment: EnvironmentDefinition;
  readonly settings: Settings;
  /** Every value, and where it came from. Contains no secrets. */
  readonly values: () => Promise<readonly ConfigurationValue[]>;
  /** The names of available credentials; the one in use is first. */
  readonly credentials: readonly SetVariable[];
  /** The project's files that can be trusted, as read. */
  readonly trust: readonly JudgedItem[];
  /** The values that have no effect, and why. */
  readonly withheld: readonly Withheld[];
  /** The files of the agent's hooks, functions and MCP servers, as read: SHA-256 by path. */
  readonly programs: Readonly<Record<string, string>>;
}

const DEFAULT_AGENT = {
  name: "assistant",
  instructions:
    "You help with the files in the working directory. Look before you change anything, keep changes small, and say briefly what you did.",
  tools: ["Read", "Glob", "Grep", "Write", "Edit", "Bash"],
} satisfies AgentAsWritten;

/** Reads all configuration files, and merges them: built in < user < project < agent < flags. */
export async function loadConfiguration(options: LoadOptions): Promise<Configuration> {
  const { path } = homeDirectory(options.environment);
  const trusting = options.trust ?? recordedTrust(path);
  const accepted = new Set<string>();
  const declined = new Set<string>();
  for (;;) {
    const unsettled: TrustItem[] = [];
    let ignored: TrustItem | undefined;
    const isTrusted = (item: TrustItem): boolean => {
      if (accepted.has(item.hash) || trusting.isTrusted(item)) return true;
      if (item.kind === "variables" && item.widens.length > 0) ignored = item;
      if (item.widens.length > 0 && !declined.has(item.hash)) unsettled.push(item);
      return false;
    };
    const loading = await loadWith(options, { isTrusted, before: trusting.before }).then(
      (loaded) => ({ loaded }),
      (thrown: unknown) => ({ thrown }),
    );
    if (unsettled.length > 0 && trusting.ask !== undefined) {
      // Content that changes meanwhile has another hash, and is asked about again.
      const answered = (await trusting.ask(unsettled)) ? accepted : declined;
      for (const { hash } of unsettled) answered.add(hash);
    } else if ("loaded" in loading) return loading.loaded;
    else throw withIgnored(loading.thrown, ignored);
  }
}

/** The only problem may be that a file's variables were ignored. */
function withIgnored(thrown: unknown, ignored: TrustItem | undefined): unknown {
  if (ignored === undefined || !(thrown instanceof CapstanError) || thrown.code === "untrusted") return thrown;
  const note = `The variables in ${ignored.path} have no effect, because it is not trusted. To trust it: capstan trust`;
  return new CapstanError(thrown.code, `${thrown.message}\n${note}`, { data: thrown.data, cause: thrown });
}

async function loadWith(options: LoadOptions, trusting: Omit<Trusting, "ask">): Promise<Configuration> {
  const { cwd, environment: shell, flags } = options;
  const home = homeDirectory(shell);
  const project = findProject(cwd, shell);
  const gate = new TrustGate(trusting, { home: home.path, cwd: resolve(cwd), shell });
  const read = readVariables(shell, project.root);
  const variables = project.root === undefined ? read : gate.variables(read, project.root);
  const agentPath = options.agentFile === undefined ? undefined : pathOfAgent(resolve(cwd, options.agentFile));
  const examined = agentPath === undefined ? undefined : await agentIn(agentPath, variables.environment);
  const agentFile = examined?.value.agent;
  const agentSource = agentPath === undefined ? BUILT_IN : `agent (${agentPath})`;

  const own: readonly Layer[] = [
    { source: BUILT_IN, values: BUILT_IN_SETTINGS },
    ...withAbsoluteRoots(await settingsLayer(home.path), shell),
  ];
  const shared = await withProjects(own, project, { gate, shell, before: trusting.before, cwd });
  const trusted =
    examined === undefined || agentPath === undefined
      ? DEFAULT_AGENT
      : gate.agent(
          { path: agentPath, value: examined.value.agent.written, files: examined.files },
          mergeLayers(shared),
        );
  const { environment, ...written }: AgentAsWritten = trusted;
  const all: readonly Layer[] = [
    ...shared,
    ...(await variableLayers(variables.environment)),
    {
      source: agentSource,
      by: "others",
      values: {
        engine: written.engine,
        model: written.model,
        permissions: written.permissions,
        budget: written.budget,
        environment,
      },
    },
    ...(await flagLayers(flags)),
  ];
  const { layers, loosened } = await withoutWidening(all, {
    cwd,
    home: shell["HOME"] || homedir(),
    capstanHome: home.path,
    temporary: tmpdir(),
    secretFiles: secretFilesOf(variables.environment),
  });
  const merged = mergeLayers(layers);
  const { engine, model, permissions, budget, environment: sessionEnvironment, ...others } = merged;
  // The agent's choice is not the host's: other agents of the host name none.
  const hosts = mergeLayers(layers.filter(({ source }) => source !== agentSource || source === BUILT_IN));
  const settings: Settings = { ...others, engine: hosts.engine };
  // The default is omitted, so that an agent's definition stays the same whether or not it is written.
  const isSaid = written.engine !== undefined || engine !== DEFAULT_ENGINE;
  const agent = definitionOf({ ...written, ...(isSaid && { engine }), model, permissions, budget }, examined?.value);
  examined?.value.requireRight((await options.problemsWith?.(agent)) ?? []);
  if (options.isOnlyShown !== true) gate.requireTrust();
  const withheld = [...gate.listWithheld(), ...loosened];
  return {
    home: home.path,
    project,
    environment: variables.environment,
    dotEnv: variables.dotEnv,
    agent,
    agentFile,
    sessionEnvironment,
    settings,
    values: async () => {
      const { allValues } = await import("./values.ts");
      return allValues({ home, project, agent: { source: agentSource, written }, layers, merged, variables, withheld });
    },
    credentials: credentialsOf(variables, {
      auth: settings.auth,
      settingsPath: join(home.path, "config.yaml"),
      stored: namedProviders(home.path),
      storedPath: storedCredentialsPath(home.path),
    }),
    trust: gate.judged,
    withheld,
    programs: gate.programs,
  };
}

/** Loaded here because a session without an agent file needs neither the parser nor the rest. */
async function agentIn(path: string, environment: Environment): Promise<Reads<ExaminedAgent>> {
  const { examineAgent } = await import("./agent/agent-file.ts");
  return notingReads(() => examineAgent(path, environment));
}

/** The file's own problems, with their positions, are more useful than problems with the remaining part. */
function definitionOf(input: unknown, examined: ExaminedAgent | undefined): AgentDefinition {
  try {
    return parseAgent(input);
  } catch (thrown) {
    examined?.requireRight([]);
    throw thrown;
  }
}

async function settingsLayer(home: string): Promise<readonly Layer[]> {
  const read = await readSettings(home, "user");
  return read === undefined ? [] : [{ source: `user (${read.path})`, by: "user", values: read.values }];
}

interface Trusted {
  readonly gate: TrustGate;
  readonly shell: Environment;
  readonly before: TrustedBefore | undefined;
  readonly cwd: string;
}

/**
 * Adds the project's settings. Below them are the restrictions of the enclosing projects and of the content that was
 * last trusted here or above: a new or removed `.capstan`, or a removed line, loosens nothing.
 */
async function withProjects(
  own: readonly Layer[],
  { root }: Project,
  { gate, shell, before, cwd }: Trusted,
): Promise<readonly Layer[]> {
  const layers = [...own];
  const add = (source: string, values: SettingsFile): void => void layers.push({ source, by: "others", values });
  const addTrusted = async (directory: string, bytes?: Uint8Array): Promise<void> => {
    const path = join(directory, ".capstan", "config.yaml");
    const [file] = before?.({ kind: "settings", root: directory, path })?.files ?? [];
    if (file === undefined || file.hash !== sha256Of(file.text)) return;
    if (bytes !== undefined && sha256Of(bytes) === file.hash) return;
    const values = await parseSettings(file.text, { path, owner: "project" });
    add(`project as you trusted it (${path})`, narrowing(values, mergeLayers(layers)));
  };
  for (const directory of upFrom(realPathOrSame(resolve(cwd)))) if (directory !== root) await addTrusted(directory);
  if (root === undefined) return layers;
  const around = root === dirname(root) ? undefined : findProject(dirname(root), shell).root;
  const outer = around === undefined ? undefined : await readSettings(join(around, ".capstan"), "project");
  if (outer !== undefined) add(`project around it (${outer.path})`, narrowing(outer.values, mergeLayers(layers)));
  const read = await readSettings(join(root, ".capstan"), "project");
  await addTrusted(root, read?.files.get(join(root, ".capstan", "config.yaml")));
  if (read !== undefined) add(`project (${read.path})`, gate.settings(read, root, mergeLayers(layers)));
  return layers;
}

/** A directory and all its parents. */
function upFrom(directory: string): readonly string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...upFrom(parent)];
}

/** Expands `~` in the directories that workspaces may be filled from. */
function withAbsoluteRoots(layers: readonly Layer[], { HOME: home }: Environment): readonly Layer[] {
  return layers.map((layer) => {
    const roots = layer.values.mount_roots?.map((root) => {
      if (!root.startsWith("~")) return root;
      if (home) return join(home, root.slice(1));
      throw new CapstanError("invalid_input", `${layer.source}: ${root} in mount_roots needs HOME, which is not set.`);
    });
    return roots === undefined ? layer : { ...layer, values: { ...layer.values, mount_roots: roots } };
  });
}
