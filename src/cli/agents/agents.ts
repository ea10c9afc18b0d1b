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
import { trustingFor } from "../trust/trusting.ts";
import { tellWithheld } from "../trust/view.ts";

const AGENT = { what: "stored agent", command: "capstan agents list" };

export interface ListFlags {
  readonly project?: string;
  readonly json?: boolean;
}

export interface CreateFlags extends ListFlags {
  readonly id?: string;
}

/** The definition is merged with the settings of here, as for `run --agent`. */
export async function create(file: string, { id, project, json }: CreateFlags): Promise<void> {
  const server = await chosenServer();
  const of = placeOf(project);
  const { agent: definition, agentFile } = await configurationWith(file, project);
  await using agents = await openStoredAgents(server, of);
  const stored =
    id === undefined
      ? await agents.create(definition)
      : await agents.update(resolveId(await agents.list(), id, AGENT).id, definition);
  if (json === true) return print(hiddenFreeJson(stored));
  // The id alone, so that a script can take it.
  print(stored.id);
  process.stderr.write(
    `\nIt is version ${stored.version} of ${escapeHidden(stored.name)}.\n` +
      "Clients of the server use it by its id; with CAPSTAN_URL set, capstan run --agent ID does as well.\n",
  );
  if (agentFile?.written.environment !== undefined)
    process.stderr.write(
      "Its `environment` is not stored: a session of a stored agent works where its own environment says.\n",
    );
}

export async function list({ project, json }: ListFlags): Promise<void> {
  const server = await chosenServer();
  await using agents = await openStoredAgents(server, placeOf(project));
  const all = await agents.list();
  if (json === true) return all.forEach((agent) => print(hiddenFreeJson(agent)));
  if (all.length === 0) return print("There is no stored agent. Make one: capstan agents create FILE");
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

function placeOf(project: string | undefined): string {
  return project === undefined ? findProject(process.cwd(), process.env).id : projectOf(project);
}

async function configurationWith(file: string, project = "."): Promise<Configuration> {
  const cwd = project === "default" ? homedir() : resolve(project);
  const given = { cwd, environment: process.env, flags: {}, agentFile: resolve(file), problemsWith };
  const configuration = await loadConfiguration({ ...given, trust: await trustingFor({}) });
  tellWithheld(configuration);
  return configuration;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
