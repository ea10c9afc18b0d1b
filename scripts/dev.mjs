// Runs a task with the Node this project is pinned to, installing the dependencies first when that is needed.
// Plain JavaScript on purpose: the system's own Node may be too old to run TypeScript.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const pinnedNode = join(root, "node_modules", "node", "bin", "node");
const env = { ...process.env, PATH: [dirname(pinnedNode), bin, process.env.PATH].join(delimiter) };

const BUILD = ["node scripts/clean.mjs", "tsc -p tsconfig.build.json", "node scripts/bundle.mjs"];
// The examples import the package by its name, as users do, and so need the build. All types are looked at by the last
// but one of these, so that the build need not do it too.
const CHECK = [
  ...BUILD.map((step) => step.replace("tsconfig.build.json", "tsconfig.build.json --noCheck")),
  "oxfmt --check .",
  "oxlint --type-aware --deny-warnings",
  "tsc -p .",
  "knip",
];
const TASKS = {
  start: ["node src/cli/main.ts serve"],
  check: CHECK,
  test: [...CHECK, "vitest run"],
  build: BUILD,
  bench: [...BUILD, "node bench/run.ts"],
  soak: ["vitest run --config vitest.soak.config.ts"],
  "test:live": ["vitest run --config vitest.live.config.ts"],
  format: ["oxfmt ."],
};

const [task = "", ...rest] = process.argv.slice(2);
const steps = TASKS[task];
if (steps === undefined) {
  console.error(`Unknown task "${task}". Known tasks: ${Object.keys(TASKS).join(", ")}.`);
  process.exit(2);
}
// Not `npm ci`: it refuses a lock file that lacks other platforms' optional binaries. The lock is kept to all the same.
if (!installed()) run("npm", ["install", "--no-save"]);
// Some npm versions do not run the install script that places the binary.
if (!existsSync(pinnedNode)) run("npm", ["rebuild", "node", "--ignore-scripts=false"]);
if (task === "test")
  for (const [command, debianPackage, what] of [
    ["bwrap", "bubblewrap", "The sandbox"],
    ["socat", "socat", "The sandbox"],
    ["chromium", "chromium", "What a browser does"],
  ])
    provide(command, debianPackage, what);
for (const [index, step] of steps.entries()) {
  const [command = "", ...args] = step.split(" ");
  const all = index === steps.length - 1 ? [...args, ...rest] : args;
  if (task === "start") stay(command, all);
  else run(command, all);
}

function installed() {
  const marker = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(marker)) return false;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(marker, "utf8")).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === "" || optional === true || present[path]?.version === version,
  );
}

/** Installs what only the system provides, when it may; says what is not tested without it. */
function provide(command, debianPackage, what) {
  const present = () => spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
  if (!present() && process.getuid?.() === 0 && spawnSync("apt-get", ["install", "-y", debianPackage]).status !== 0) {
    spawnSync("apt-get", ["update"]);
    spawnSync("apt-get", ["install", "-y", debianPackage]);
  }
  if (present()) return;
  console.error(
    `${what} cannot be tested here: ${debianPackage} is not installed. On Debian: apt-get install ${debianPackage}`,
  );
  if (process.env.CAPSTAN_TEST_REQUIRE === "all") process.exit(1);
}

/** For what runs until it is told to stop, and then needs a while. */
function stay(command, args) {
  const child = spawn(command, args, { cwd: root, env, stdio: "inherit" });
  // A terminal tells all of its processes; whoever tells only this one means the child.
  for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  // npm tells only its shell, which goes without a word.
  if (process.env.npm_lifecycle_event !== undefined) whenOrphaned(() => child.kill("SIGTERM"));
  child.on("error", (error) => console.error(`${command} could not be started: ${error.message}`));
  child.on("close", (code) => (process.exitCode = code ?? 1));
}

function whenOrphaned(act) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    act();
  }, 500).unref();
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: "inherit" });
  if (error !== undefined) console.error(`${command} could not be started: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
