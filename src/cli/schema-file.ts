import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

/** In the package, beside dist/. */
const PUBLISHED = "schemas/agent.schema.json";
const INSTALLED = `node_modules/capstan/${PUBLISHED}`;

/** Where an agent file in a directory finds its JSON Schema: in the project's packages, now or once it is installed. */
export function schemaPath(place: string): string {
  const own = fileURLToPath(new URL(`../../${PUBLISHED}`, import.meta.url));
  for (let directory = place; directory !== dirname(directory); directory = dirname(directory)) {
    if (existsSync(join(directory, INSTALLED))) return relativePath(place, join(directory, INSTALLED));
    // A clone of Capstan itself.
    if (join(directory, PUBLISHED) === own) return relativePath(place, own);
  }
  return `./${INSTALLED}`;
}

function relativePath(from: string, to: string): string {
  const path = relative(from, to);
  return path.startsWith(".") ? path : `./${path}`;
}
