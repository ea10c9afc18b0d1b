import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { homeDirectory, usualHome } from "../../config/project/home.ts";
import { findProject } from "../../config/project/project.ts";
import { schemaText } from "../agents/schema.ts";
import { AGENT_SCHEMA, SUITE_SCHEMA } from "./template.ts";

/** What a new agent needs around it. */
export interface AroundAgent {
  /** Files that are not there yet, by their paths from the agent's directory. */
  readonly files: Readonly<Record<string, string>>;
  /** The path of the JSON Schema from there, for editors. */
  readonly schema: string;
  /** The `.env` that is read for it, from there; undefined when none is. */
  readonly dotEnv: string | undefined;
}

const SETTINGS = `# The settings of this project: of this directory and all below it. Its variables are in .env beside .capstan.
# A line counts when its # is gone; capstan config shows what is decided, and by whom.

# model: claude-opus-4-8
# budget: { usd: 5 }
# permissions: { deny: [WebFetch] }
`;

/**
 * Makes the directory a project, with an `.env` of its own. One that lies in a project stays in it: rules that were
 * written for that one must not end here. The user's home directory cannot be one.
 */
export function aroundAgent(place: string): AroundAgent {
  const here = realPlace(place);
  const homes = [homeDirectory(process.env).path, usualHome(process.env)].map((home) => home && realPlace(home));
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

/** The directory itself, or the nearest above it that is there. */
function nearestDirectory(place: string): string {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true ? place : nearestDirectory(dirname(place));
}

/** Without symbolic links, also where it is not there yet. */
function realPlace(place: string): string {
  return existsSync(place) ? realpathSync.native(place) : join(realPlace(dirname(place)), basename(place));
}
