import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Relative to dist/ and its folders, and to src/app in a clone. */
const PLACES = ["./console/", "../console/", "../../dist/console/"];

/** The directory of the console's files. Undefined in a clone that was not built. */
export function consoleDirectory(): string | undefined {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return places.find((place) => existsSync(`${place}index.html`));
}
