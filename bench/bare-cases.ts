import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { BareSession } from "./bare.ts";
import { CASES, PARALLEL, READER, REQUEST, fill } from "./suites.ts";

/** The baseline for a suite: the same turns with the SDK alone, each in a new process and directory. Prints the time they took. */
const [url = "", root = ""] = process.argv.slice(2);

async function oneCase(number: number): Promise<void> {
  const cwd = join(root, String(number));
  mkdirSync(cwd, { recursive: true });
  fill(cwd);
  await using session = new BareSession({ agent: READER, cwd, url, path: process.env["PATH"] ?? "" });
  await session.oneTurn(REQUEST, { resume: false });
}

const started = performance.now();
const left = Array.from({ length: CASES }, (_, index) => index).values();
await Promise.all(
  Array.from({ length: PARALLEL }, async () => {
    for (const number of left) await oneCase(number);
  }),
);
console.log(performance.now() - started);
