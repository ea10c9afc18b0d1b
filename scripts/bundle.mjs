// Writes the package's JavaScript to dist/, in few files: a command starts sooner when less has to be found and opened.
// What a command loads late stays in files of its own. The declarations are tsc's.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = new URL("..", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
/** Part of the bundle, and still a dependency: the declarations name its types. */
const INLINED = "zod";
const installed = Object.keys(JSON.parse(read("package.json")).dependencies).filter((name) => name !== INLINED);

const bundle = await rolldown({
  cwd: fileURLToPath(root),
  input: { index: "src/index.ts", "cli/main": "src/cli/main.ts", "client/index": "src/client/index.ts" },
  platform: "node",
  external: (id) => id.startsWith("node:") || installed.some((name) => id === name || id.startsWith(`${name}/`)),
  // The oldest Node that is supported has no `using`.
  transform: { target: "es2024" },
});
await bundle.write({
  dir: "dist",
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  codeSplitting: { groups: [{ name: INLINED, test: /node_modules[\\/]zod[\\/]/ }] },
  // Its licence goes where its code goes.
  postBanner: ({ name }) => (name === INLINED ? `/*!\n${read(`node_modules/${INLINED}/LICENSE`).trim()}\n*/` : ""),
});
await bundle.close();
