import { basename, isAbsolute, join, resolve } from "node:path";
import { rolldown } from "rolldown";

/** Beside what it imports from packages; always at the same place, so that Node need not compile it for each process. */
const PLACE = resolve("node_modules/.cache/capstan-hosts");
/** Many files, in one like the rest. */
const INLINED = ["zod", "yaml"];
const made = new Map<string, Promise<string>>();

/** A program beside this file in one file, as the package's own are: it is started often, and so starts in half the time. */
export function bundleProgram(name: string): Promise<string> {
  const known = made.get(name) ?? bundle(name);
  made.set(name, known);
  return known;
}

async function bundle(name: string): Promise<string> {
  const program = basename(name, ".ts");
  const build = await rolldown({
    input: { [program]: join(import.meta.dirname, name) },
    platform: "node",
    external: (id) => !id.startsWith(".") && !isAbsolute(id) && !INLINED.some((own) => id.split("/")[0] === own),
  });
  const dir = join(PLACE, program);
  await build.write({ dir, format: "esm" });
  await build.close();
  return join(dir, `${program}.js`);
}
