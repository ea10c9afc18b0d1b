// Runs a task with the Node this project is pinned to, installing the dependencies first when that is needed.
// Plain JavaScript on purpose: the system's own Node may be too old to run TypeScript.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, "node_modules", ".bin");
const pinnedNode = join(root, "node_modules", "node", "bin", "node");
const env = { ...process.env, PATH: [dirname(pinnedNode), bin, process.env.PATH].join(delimiter) };

const BUILT = join("dist", "console", "index.html");
const CONSOLE = "vite build web --logLevel warn";
const DECLARATIONS = "tsc -p tsconfig.build.json";
/** A list within a list: they run side by side, because most of them keep one core busy. */
const build = (declarations) => ["node scripts/clean.mjs", [declarations, "node scripts/bundle.mjs", CONSOLE]];
const BUILD = build(DECLARATIONS);
// The examples import the package by its name, as users do, and so need the build. All types are looked at by what
// follows it, so that the build need not do it too.
const CHECK = [
  ...build(`${DECLARATIONS} --noCheck`),
  ["oxlint --type-aware --deny-warnings", "tsc -p .", "oxfmt --check .", "tsc -p web", "knip"],
];
/** The projects of vitest.config.ts that `npm test` leaves out: long tests, and agent tests on the Claude CLI. */
const REST = "6*";
const DEEP = "6?deep*";
/** Where there is no screen, there is no browser to open. */
const hasScreen = process.platform === "darwin" || Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
const TASKS = {
  start: [CONSOLE, `node src/cli/main.ts serve${hasScreen ? " --open" : ""}`],
  check: CHECK,
  test: [...CHECK, `vitest run --project !${REST}`],
  "test:all": [...CHECK, "vitest run"],
  "test:deep": [...build(`${DECLARATIONS} --noCheck`), `vitest run --project ${DEEP}`],
  "test:rest": [...build(`${DECLARATIONS} --noCheck`), `vitest run --project ${REST}`],
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
if (!isInstalled()) run("npm", ["install", "--no-save"]);
// Some npm versions do not run the install script that places the binary.
if (!existsSync(pinnedNode)) run("npm", ["rebuild", "node", "--ignore-scripts=false"]);
if (["test", "test:all", "test:deep", "test:rest"].includes(task))
  for (const [command, debianPackage, what] of [
    ["git", "git", "Checkpoints and worktrees"],
    ["tmux", "tmux", "What a terminal shows"],
    ["bwrap", "bubblewrap", "The sandbox"],
    ["socat", "socat", "The sandbox"],
    ["chromium", "chromium", "What a browser does"],
  ])
    provide(command, debianPackage, what);
for (const [index, step] of steps.entries()) {
  const began = new Date();
  if (Array.isArray(step)) {
    await runTogether(step);
    if (step.includes(CONSOLE)) stamp(began);
    continue;
  }
  const [command = "", ...args] = step.split(" ");
  const all = index === steps.length - 1 ? [...args, ...rest] : args;
  if (step === CONSOLE && isBuilt()) continue;
  if (task === "start" && step !== CONSOLE) stay(command, all);
  else run(command, all);
  if (step === CONSOLE) stamp(began);
}

/** As old as what it was made of: what was changed while it was built is newer. */
function stamp(began) {
  utimesSync(join(root, BUILT), began, began);
}

function isInstalled() {
  const marker = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(marker)) return false;
  const wanted = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages;
  const present = JSON.parse(readFileSync(marker, "utf8")).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === "" || optional === true || present[path]?.version === version,
  );
}

/** Whether the console that is here is that of these sources: a build takes its files away from whoever uses them. */
function isBuilt() {
  const built = changedAt(BUILT);
  const sources = ["web", "src"].flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true }).map((file) => join(directory, file)),
  );
  return [...sources, "package-lock.json"].every((path) => changedAt(path) < built);
}

function changedAt(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
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

/** All of them, also when one fails; what each says is told in one piece when it has ended. */
async function runTogether(commands) {
  const statuses = await Promise.all(
    commands.map(
      (line) =>
        new Promise((done) => {
          const [command = "", ...args] = line.split(" ");
          const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
          const said = [];
          for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => said.push(chunk));
          child.on("error", (error) => said.push(Buffer.from(`It could not be started: ${error.message}\n`)));
          child.on("close", (status) => {
            const text = Buffer.concat(said).toString().trim();
            if (status !== 0) console.error(`\n${line} failed:\n${text}`);
            else if (text !== "") console.log(`\n${line}\n${text}`);
            done(status ?? 1);
          });
        }),
    ),
  );
  const failed = statuses.find((status) => status !== 0);
  if (failed !== undefined) process.exit(failed < 0 ? 1 : failed);
}
