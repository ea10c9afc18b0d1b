// Writes the package's JavaScript to dist/, in few files: a command starts sooner when less has to be found and opened.
// What a command loads late stays in files of its own. The declarations are tsc's.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = new URL("..", import.meta.url);
const read = (path) => readFileSync(new URL(path, root), "utf8");
/** Part of the bundle, so that their many files need not be found; zod is still a dependency, the declarations name its types. */
const INLINED = [
  "zod",
  "yaml",
  "commander",
  "picocolors",
  "unbash",
  "diff",
  "picomatch",
  "ignore",
  "ajv",
  "ajv-formats",
  "eventsource-parser",
];
const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(read("package.json"));
const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
  (name) => !INLINED.includes(name),
);

/** What commander loads of Node at its start and uses only for commands in files of their own, which there are none of. */
const UNUSED = "node:child_process";
const withoutUnused = {
  name: "without-unused",
  resolveId: (id, importer) => (id === UNUSED && isCommander(importer) ? `\0${UNUSED}` : null),
  load: (id) => (id === `\0${UNUSED}` ? "export default {};" : null),
};
function isCommander(path) {
  return /node_modules[\\/]commander[\\/]/.test(path ?? "");
}

/** An `import` of a module of Node's loads all it would ever load late, to name its exports: 4 of 30 ms for node:fs alone. */
const lateBuiltins = {
  name: "late-builtins",
  renderChunk: (code) =>
    code.replaceAll(/^import (\w+|\* as \w+|\{[^}]*\}) from "(node:[\w/]+)";$/gm, (_, names, id) => {
      const bound = names.replaceAll(/(\w+) as (\w+)/g, "$1: $2").replace("* as ", "");
      return `const ${bound} = globalThis.process.getBuiltinModule("${id}");`;
    }),
};

const common = {
  cwd: fileURLToPath(root),
  platform: "node",
  external: (id, importer) =>
    (id.startsWith("node:") && !(id === UNUSED && isCommander(importer))) ||
    installed.some((name) => id === name || id.startsWith(`${name}/`)),
  // The oldest Node that is supported has no `using`.
  transform: { target: "es2024" },
  plugins: [withoutUnused, lateBuiltins],
};

const started = await loadedWith(["src/cli/commands.ts", "src/cli/terminal/failure.ts"]);
const checked = await loadedWith("src/cli/agents/validate.ts");
const bundle = await rolldown({
  ...common,
  input: {
    index: "src/index.ts",
    "cli/main": "src/cli/main.ts",
    "client/index": "src/client/index.ts",
    // Started by its name, in a thread of its own.
    "workers/heavy": "src/app/heavy/worker.ts",
  },
});
await bundle.write({
  dir: "dist",
  format: "esm",
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name].js",
  codeSplitting: {
    groups: [
      ...INLINED.map((name) => ({ name, test: new RegExp(String.raw`node_modules[\\/]${name}[\\/]`) })),
      // Every command loads the first, every command that takes an agent the second.
      { name: "start", test: (id) => started.has(id) },
      { name: "agent", test: (id) => checked.has(id) },
    ],
  },
  // Its licence goes where its code goes.
  postBanner: ({ name }) => (INLINED.includes(name) ? `/*!\n${licenceOf(name)}\n*/` : ""),
});
await bundle.close();

function licenceOf(name) {
  const file = readdirSync(new URL(`node_modules/${name}`, root)).find((entry) => entry.startsWith("LICENSE"));
  return read(`node_modules/${name}/${file}`).trim();
}

/** The modules that are loaded with one, late ones not counted. */
async function loadedWith(input) {
  const trial = await rolldown({ ...common, input });
  const { output } = await trial.generate({ format: "esm" });
  await trial.close();
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const seen = new Set();
  const visit = (name) => {
    if (seen.has(name) || !chunks.has(name)) return;
    seen.add(name);
    chunks.get(name).imports.forEach(visit);
  };
  output.filter((chunk) => chunk.isEntry).forEach((chunk) => visit(chunk.fileName));
  return new Set([...seen].flatMap((name) => Object.keys(chunks.get(name).modules)));
}
