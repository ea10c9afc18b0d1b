import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { temporaryDirectory } from "./host.ts";
import { TEST_ENGINE } from "./test-engine.ts";

/** A directory with programs that sees the package as one that installed it does, and zod and Anthropic's client beside it. */
export function installation(programs: Iterable<readonly [file: string, code: string]>): TemporaryDirectory {
  const directory = temporaryDirectory();
  const modules = join(directory.path, "node_modules");
  mkdirSync(modules);
  symlinkSync(resolve("."), join(modules, "capstan"));
  for (const name of ["zod", "@types", "@anthropic-ai"])
    symlinkSync(resolve("node_modules", name), join(modules, name));
  writeFileSync(join(directory.path, "package.json"), '{ "type": "module" }');
  for (const [file, code] of programs) writeFileSync(join(directory.path, file), code);
  return directory;
}

type TemporaryDirectory = ReturnType<typeof temporaryDirectory>;

/** A program of the documents or the examples whose host runs agents on the engine of this test: word for word on the default. */
export function onTestEngine(code: string): string {
  if (TEST_ENGINE === "claude") return code;
  const changed = code.replaceAll("rehearsal: true", `rehearsal: true, engine: "${TEST_ENGINE}"`);
  if (changed === code)
    throw new Error("The program says `rehearsal: true` nowhere, so it would run on the default engine.");
  return changed;
}
