import { homedir } from "node:os";
import { resolve } from "node:path";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { findProject } from "../../config/project/project.ts";
import { problemsWith } from "./agent-check.ts";
import { resolveId } from "../terminal/short-id.ts";
import { projectOf } from "../target/home.ts";
import { chosenServer } from "../target/server.ts";
import { openStoredAgents, type StoredAgent } from "./stored-agents.ts";
import { ago, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";
import { trustingFor } from "../trust/trust-flags.ts";
import { reportWithheld } from "../trust/trust-view.ts";

const AGENT = { what: "saved agent", command: "capstan agents list" };

export interface ListAgentsFlags {
  readonly project?: string;
  readonly json?: boolean;
}

export interface CreateAgentFlags extends ListAgentsFlags {
  readonly id?: string;
}

/** Merges the definition with this machine's settings, as for `run --agent`. */
export async function createAgent(file: string, { id, project, json }: CreateAgentFlags): Promise<void> {
  const server = await chosenServer();
  const of = projectFor(project);
  const { agent: definition, agentFile } = await configurationWith(file, project);
  await using agents = await openStoredAgents(server, of);
  const stored =
    id === undefined
      ? await agents.create(definition)
      : await agents.update(resolveId(await agents.list(), id, AGENT).id, definition);
  if (json === true) return print(hiddenFreeJson(stored));
  // Only the id, for scripts.
  print(stored.id);
  process.stderr.write(
    `\nSaved as version ${stored.version} of ${escapeHidden(stored.name)}.\n` +
      "Clients of the server use it by its id. With CAPSTAN_URL set, so does: capstan run --agent ID\n",
  );
  if (agentFile?.written.environment !== undefined)
    process.stderr.write(
      "Its `environment` was not saved: sessions of a saved agent use the environment they are started with.\n",
    );
}

export async function listAgents({ project, json }: ListAgentsFlags): Promise<void> {
  const server = await chosenServer();
  await using agents = await openStoredAgents(server, projectFor(project));
  const all = await agents.list();
  if (json === true) return all.forEach((agent) => print(hiddenFreeJson(agent)));
  if (all.length === 0) return print("No saved agents. Create one: capstan agents create FILE");
  print(table(["AGENT", "VERSION", "CHANGED", "MODEL", "NAME"], all.map(rowOf)));
}

function rowOf({ id, version, updatedAt, definition, name }: StoredAgent): string[] {
  return [
    shortId(id),
    String(version),
    ago(Date.now() - updatedAt),
    escapeHidden(definition.model),
    escapeHidden(name),
  ];
}

function projectFor(project: string | undefined): string {
  return project === undefined ? findProject(process.cwd(), process.env).id : projectOf(project);
}

async function configurationWith(file: string, project = "."): Promise<Configuration> {
  const cwd = project === "default" ? homedir() : resolve(project);
  const given = { cwd, environment: process.env, flags: {}, agentFile: resolve(file), problemsWith };
  const configuration = await loadConfiguration({ ...given, trust: await trustingFor({}) });
  reportWithheld(configuration);
  return configuration;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
