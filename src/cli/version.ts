import { readFileSync } from "node:fs";

/** Of this package. Source and bundle lie as deep as each other. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly version: string;
  };
  return manifest.version;
}
