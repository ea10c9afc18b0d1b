import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type AgentDefinition, parseAgent } from "../core/agent-definition.ts";
import type { EnvironmentDefinition } from "../core/environment.ts";
import { CapstanError } from "../core/errors.ts";
import type { AgentAsWritten, ExaminedAgent, FieldProblem, ReadAgent } from "./agent-file.ts";
import { agentPath as pathOfAgent } from "./agent-path.ts";
import { type Environment, homeDirectory } from "./home.ts";
import { BUILT_IN, type Flags, flagLayers, type Layer, mergeLayers } from "./layers.ts";
import { withoutWidening } from "./others.ts";
import { secretFilesOf } from "./private-files.ts";
import { findProject, type Project } from "./project.ts";
import { BUILT_IN_SETTINGS, readSettings, type Settings, type SettingsOwner } from "./settings.ts";
import type { ConfigurationValue } from "./values.ts";
import { namedProviders, storedCredentialsPath } from "./stored-credentials.ts";
import { credentialsOf, readVariables, type SetVariable, type Variables } from "./variables.ts";

export interface LoadOptions {
  /** Where the session works; its project is looked for from here upwards. */
  readonly cwd: string;
  /** The shell's variables. */
  readonly environment: Environment;
  readonly flags: Flags;
  /** Relative to `cwd`; a directory stands for the agent.yaml in it. Default: the built-in agent. */
  readonly agentFile?: string | undefined;
  /** What else is wrong with the agent in an agent file, told together with what is wrong with the file. */
  readonly problemsWith?: (agent: AgentDefinition) => Promise<readonly FieldProblem[]>;
}

export interface Configuration {
  readonly home: string;
  readonly project: Project;
  /** The shell's variables over those of the project's `.env`. Holds credentials: not to be shown, logged or stored. */
  readonly environment: Environment;
  /** The project's `.env`, and which variables came from it. */
  readonly dotEnv: Variables["dotEnv"];
  /** The agent with what settings and flags decide for it: model, permissions and budget. */
  readonly agent: AgentDefinition;
  /** What was read when an agent file was given. */
  readonly agentFile: ReadAgent | undefined;
  /** Where and how its sessions may work. */
  readonly sessionEnvironment: EnvironmentDefinition;
  readonly settings: Settings;
  /** Everything that was decided and by whom. Holds no secret. */
  readonly values: () => Promise<readonly ConfigurationValue[]>;
  /** The credentials that are there, by their names, the one that is used first. */
  readonly credentials: readonly SetVariable[];
}

const DEFAULT_AGENT = {
  name: "assistant",
  instructions:
    "You help with the files in the working directory. Look before you change anything, keep changes small, and say briefly what you did.",
  tools: ["Read", "Glob", "Grep", "Write", "Edit", "Bash"],
} satisfies AgentAsWritten;

/** Reads every file that has a say, and merges: built in < user < project < agent < flags. */
export async function loadConfiguration(options: LoadOptions): Promise<Configuration> {
  const { cwd, environment: shell, flags } = options;
  const home = homeDirectory(shell);
  const project = findProject(cwd, shell);
  const variables = readVariables(shell, project.root);
  const agentPath = options.agentFile === undefined ? undefined : pathOfAgent(resolve(cwd, options.agentFile));
  const examined = agentPath === undefined ? undefined : await agentIn(agentPath, variables.environment);
  const agentFile = examined?.agent;
  const { environment, ...written }: AgentAsWritten = agentFile?.written ?? DEFAULT_AGENT;
  const agentSource = agentPath === undefined ? BUILT_IN : `agent (${agentPath})`;

  const all: readonly Layer[] = [
    { source: BUILT_IN, values: BUILT_IN_SETTINGS },
    ...withAbsoluteRoots(await settingsLayer("user", home.path), shell),
    ...(project.root === undefined ? [] : await settingsLayer("project", join(project.root, ".capstan"))),
    {
      source: agentSource,
      by: "others",
      values: { model: written.model, permissions: written.permissions, budget: written.budget, environment },
    },
    ...(await flagLayers(flags)),
  ];
  const layers = await withoutWidening(all, {
    cwd,
    home: shell["HOME"] || homedir(),
    capstanHome: home.path,
    temporary: tmpdir(),
    secretFiles: secretFilesOf(variables.environment),
  });
  const merged = mergeLayers(layers);
  const { model, permissions, budget, environment: sessionEnvironment, ...settings } = merged;
  const agent = definitionOf({ ...written, model, permissions, budget }, examined);
  examined?.requireRight((await options.problemsWith?.(agent)) ?? []);
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
      return allValues({ home, project, agent: { source: agentSource, written }, layers, merged, variables });
    },
    credentials: credentialsOf(variables, {
      auth: settings.auth,
      settingsPath: join(home.path, "config.yaml"),
      stored: namedProviders(home.path),
      storedPath: storedCredentialsPath(home.path),
    }),
  };
}

/** Loaded here because a session without an agent file needs neither the parser nor the rest. */
async function agentIn(path: string, environment: Environment): Promise<ExaminedAgent> {
  const { examineAgent } = await import("./agent-file.ts");
  return examineAgent(path, environment);
}

/** What is wrong with the file, with its places, says more than what is wrong with what remains of it. */
function definitionOf(input: unknown, examined: ExaminedAgent | undefined): AgentDefinition {
  try {
    return parseAgent(input);
  } catch (thrown) {
    examined?.requireRight([]);
    throw thrown;
  }
}

async function settingsLayer(who: SettingsOwner, directory: string): Promise<readonly Layer[]> {
  const read = await readSettings(directory, who);
  const by = who === "user" ? "user" : "others";
  return read === undefined ? [] : [{ source: `${who} (${read.path})`, by, values: read.values }];
}

/** With `~` put in the directories that workspaces may be filled from. */
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
