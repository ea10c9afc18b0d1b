import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { homeDirectory, usualHome } from "../../config/project/home.ts";
import { findProject } from "../../config/project/project.ts";
import { schemaText } from "../agents/schema.ts";
import { AGENT_SCHEMA, SUITE_SCHEMA } from "./template.ts";

/** The files around a new agent. */
export interface AroundAgent {
  /** Missing files, by path relative to the agent's directory. */
  readonly files: Readonly<Record<string, string>>;
  /** The relative path of the JSON Schema, for editors. */
  readonly schema: string;
  /** The relative path of the `.env` that Capstan reads; undefined if it reads none. */
  readonly dotEnv: string | undefined;
}

const SETTINGS = `# Settings of this project: this directory and everything below it. Variables go in .env next to .capstan.
# Remove the # to activate a line. capstan config shows the resulting settings and where they come from.

# model: claude-opus-4-8
# budget: { usd: 5 }
# permissions: { deny: [WebFetch] }
`;

/**
 * Makes the directory a project with its own `.env`. A directory inside a project stays in that project, because its
 * rules must keep applying. The user's home directory cannot be a project.
 */
export function aroundAgent(place: string): AroundAgent {
  const here = realDirectory(place);
  const homes = [homeDirectory(process.env).path, usualHome(process.env)].map((home) => home && realDirectory(home));
  const isHome = homes.includes(join(here, ".capstan"));
  const root = isHome ? undefined : (findProject(nearestDirectory(here), process.env).root ?? here);
  const fromHere = (file: string): string => relative(here, join(root ?? here, file));
  const schemaAt = (file: string): string => fromHere(isHome ? file : join(".capstan", file));
  const schema = schemaAt(AGENT_SCHEMA);
  const wanted = {
    ...(root === here && { ".capstan/config.yaml": SETTINGS }),
    [schema]: schemaText(),
    [schemaAt(SUITE_SCHEMA)]: schemaText("suite"),
  };
  return {
    files: Object.fromEntries(Object.entries(wanted).filter(([file]) => !existsSync(join(here, file)))),
    schema: schema.startsWith("..") ? schema : `./${schema}`,
    dotEnv: root === undefined ? undefined : fromHere(".env"),
  };
}

/** The directory, or its nearest existing parent. */
function nearestDirectory(place: string): string {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? place : nearestDirectory(dirname(place));
}

/** Resolves symbolic links, even if the path does not exist yet. */
function realDirectory(place: string): string {
  return existsSync(place) ? realpathSync.native(place) : join(realDirectory(dirname(place)), basename(place));
}
