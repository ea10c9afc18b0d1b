// Writes the package's JavaScript to dist/, in few files: a command starts sooner when less has to be found and opened.
// What a command loads late stays in files of its own. The declarations are tsc's.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = new URL("..", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
/** Part of the bundle, so that their many files need not be found; zod is still a dependency, the declarations name its types. */
const INLINED = ["zod", "yaml", "commander", "picocolors"];
const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(read("package.json"));
const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
  (name) => !INLINED.includes(name),
);

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
  codeSplitting: {
    groups: INLINED.map((name) => ({ name, test: new RegExp(String.raw`node_modules[\\/]${name}[\\/]`) })),
  },
  // Its licence goes where its code goes.
  postBanner: ({ name }) => (INLINED.includes(name) ? `/*!\n${read(`node_modules/${name}/LICENSE`).trim()}\n*/` : ""),
});
await bundle.close();
