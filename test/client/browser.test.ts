import { builtinModules } from "node:module";
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

/** All modules that a file loads at run time; types are gone by then. */
function loadedBy(file: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, type, names = "", specifier = ""] of text.matchAll(
    /^(?:import|export)(\s+type)?\s+([^"]*?)\s*from\s+"([^"]+)"/gms,
  )) {
    const isType = type !== undefined || /^\{(?:\s*type\s+\w+\s*,?)*\s*\}$/.test(names.trim());
    if (isType) continue;
    if (specifier.startsWith(".")) loadedBy(posix.join(posix.dirname(file), specifier), seen);
    else seen.add(specifier);
  }
  return seen;
}

test("the client loads nothing of Node, and no package but the one that reads event streams", () => {
  const loaded = [...loadedBy("src/client/index.ts")];
  expect(loaded.filter((name) => !name.startsWith("src/client/"))).toEqual([
    "src/protocol/sse.ts",
    "eventsource-parser",
    "src/core/text/on-abort.ts",
  ]);
  expect(loaded.length).toBeGreaterThan(5);
});

test("the client can be bundled for browsers", async () => {
  const bundle = await rolldown({ input: "src/client/index.ts", platform: "browser", external: () => false });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const [chunk] = output;
  expect(output).toHaveLength(1);
  expect(chunk.imports).toEqual([]);
  for (const name of builtinModules) expect(chunk.code).not.toContain(`"node:${name}"`);
  expect(chunk.code).not.toMatch(/\bprocess\.|\bBuffer\b|\brequire\(/);
  // Small enough for a page.
  expect(chunk.code.length).toBeLessThan(40_000);
});
