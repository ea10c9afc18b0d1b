import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Seen from dist/ and from its folders, and from src/app in a clone. */
const PLACES = ["./console/", "../console/", "../../dist/console/"];

/** Where the console's files are. Undefined in a clone where nothing was built. */
export function consoleDirectory(): string | undefined {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return places.find((place) => existsSync(`${place}index.html`));
}
