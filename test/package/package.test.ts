import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { beforeAll, expect, test } from "vitest";
import { isBuilt } from "../support/cli.ts";
import { temporaryDirectory } from "../support/host.ts";

const run = promisify(execFile);
const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  version: string;
  engines: { node: string };
  scripts: Record<string, string>;
};
/** The oldest Node that the package says it works with. */
const OLDEST = `${manifest.engines.node.replace(">=", "")}.0`;
/** Where npm keeps the binary of that Node, as for the pinned one. */
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
const NETWORK_FAILURE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT/;

const place = temporaryDirectory();
const tarball = join(place.path, `capstan-${manifest.version}.tgz`);
/** A directory of a user's with the package installed. */
const user = join(place.path, "user");
const home = join(place.path, "home");
const oldestNode = join(place.path, "oldest", "node_modules", NODE_PACKAGE, "bin", "node");
const nodes = [
  { name: `Node ${OLDEST}`, node: oldestNode },
  { name: "the pinned Node", node: process.execPath },
];
let offline: string | undefined;

beforeAll(async () => {
  for (const directory of [user, home, join(place.path, "oldest")]) mkdirSync(directory);
  await pack();
  writeFileSync(join(user, "package.json"), '{ "private": true, "type": "module" }');
  try {
    await Promise.all([
      npm(user, "install", "--ignore-scripts", tarball),
      npm(join(place.path, "oldest"), "install", "--ignore-scripts", `${NODE_PACKAGE}@${OLDEST}`),
    ]);
  } catch (error) {
    offline = NETWORK_FAILURE.exec(String(error))?.[0];
    if (offline === undefined || process.env["CAPSTAN_TEST_REQUIRE"] === "all") throw error;
  }
  return () => place[Symbol.dispose]();
}, 180_000);

/**
 * Packs a copy of the tree: packing builds, and other tests use the build that is here. Where that is the build of these
 * sources, as in `npm test`, it is packed: another one would be the same.
 */
async function pack(): Promise<void> {
  const copy = join(place.path, "copy");
  const left = new Set(["node_modules", ".git", ...(isBuilt() ? [] : ["dist"])]);
  cpSync(".", copy, { recursive: true, filter: (path) => !left.has(basename(path)) });
  symlinkSync(resolve("node_modules"), join(copy, "node_modules"));
  await npm(copy, "pack", ...(isBuilt() ? ["--ignore-scripts"] : []), "--pack-destination", place.path);
}

test("packing builds, as npm test does", () => {
  const { prepack, build, test: tests } = manifest.scripts;
  expect(prepack).toBe(build);
  expect(tests).toBe(build?.replace(/build$/, "test"));
});

/** npm as it is on this machine (its way out may need a proxy or a certificate), but with a home and a cache of its own. */
function npm(cwd: string, ...args: string[]): Promise<unknown> {
  const env = { ...process.env, ...environment(process.execPath), npm_config_cache: join(place.path, "cache") };
  return run("npm", ["--prefix", ".", ...args], { cwd, env });
}

function environment(node: string): Record<string, string> {
  const own = join(home, node === oldestNode ? "oldest" : "pinned");
  return { PATH: [dirname(node), process.env["PATH"]].join(delimiter), HOME: own };
}

test("the package holds what users need and nothing else", async () => {
  const { stdout } = await run("tar", ["-tzf", tarball]);
  const files = stdout
    .trim()
    .split("\n")
    .map((file) => file.replace("package/", ""));
  const outside = files.filter((file) => !file.startsWith("dist/"));
  expect(outside.filter((file) => file !== "CHANGELOG.md").toSorted()).toEqual([
    "LICENSE",
    "NOTICE",
    "README.md",
    "package.json",
    "schemas/agent.schema.json",
    "schemas/suite.schema.json",
  ]);
  const code = files.filter((file) => file.startsWith("dist/") && !file.startsWith("dist/console/"));
  expect(code.filter((file) => !/\.(?:d\.ts|js)$/.test(file))).toEqual([]);
  const pages = files.filter((file) => /^dist\/console\/.+[^/]$/.test(file));
  expect(pages.filter((file) => !/\.(?:js|css)$/.test(file)).toSorted()).toEqual([
    "dist/console/favicon.svg",
    "dist/console/index.html",
    "dist/console/licenses.md",
  ]);
  expect(files).toContain("dist/index.d.ts");
  // A thread is started from it by its name.
  expect(files).toContain("dist/workers/heavy.js");
});

test("publint and attw find nothing wrong", async () => {
  const { messages } = await publint({ pack: { tarball: new Uint8Array(readFileSync(tarball)).buffer }, strict: true });
  expect(messages).toEqual([]);
  const attw = fileURLToPath(import.meta.resolve("@arethetypeswrong/cli/package.json")).replace("package.json", "");
  await run(process.execPath, [join(attw, "dist/index.js"), "--profile", "esm-only", tarball]);
});

test("the README states its size and its dependencies", ({ skip }) => {
  skip(offline !== undefined, `No npm registry: ${offline}`);
  const readme = readFileSync("README.md", "utf8");
  const [, packed, unpacked, packages] = /(\d+) kB packed, ([\d.]+) MB unpacked, (\d+) packages/.exec(readme) ?? [];
  const lock = readFileSync(join(user, "node_modules/.package-lock.json"), "utf8");
  const installed = Object.keys((JSON.parse(lock) as { packages: object }).packages).length;
  expectAbout(Number(packed), statSync(tarball).size / 1000);
  expectAbout(Number(unpacked), sizeOf(join(user, "node_modules/capstan")) / 1_000_000);
  expectAbout(Number(packages), installed);
});

function expectAbout(stated: number, actual: number): void {
  expect(Math.abs(stated / actual - 1), `${stated} is stated, it is ${actual}`).toBeLessThan(0.15);
}

function sizeOf(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

test.for(nodes)("on $name it is a CLI", async ({ node }, { skip }) => {
  skip(offline !== undefined, `No npm registry: ${offline}`);
  const cli = (...args: string[]): ReturnType<typeof run> => {
    const running = run(join(user, "node_modules/.bin/capstan"), args, { cwd: user, env: environment(node) });
    running.child.stdin?.end();
    return running;
  };
  expect(await cli("--version")).toEqual({ stdout: `${manifest.version}\n`, stderr: "" });
  const { stdout, stderr } = await cli("run", "--rehearsal", "--mode", "yolo", "run echo hi, then write a.txt with hi");
  expect(stdout).toMatch(/✓ Bash echo hi .*\n✓ Write a\.txt /);
  expect(stderr).toBe("");
  expect(existsSync(join(user, "a.txt"))).toBe(true);
  const list = await cli("sessions", "list");
  expect(list.stdout).toContain("run echo hi");
  expect(list.stderr).toBe("");
  await cli("backup", join(environment(node)["HOME"] ?? "", "copy.db"));
});

test("npx finds it", async ({ skip }) => {
  skip(offline !== undefined, `No npm registry: ${offline}`);
  const { stdout } = await run("npx", ["--no-install", "capstan", "--version"], {
    cwd: user,
    env: environment(process.execPath),
  });
  expect(stdout).toBe(`${manifest.version}\n`);
});

const PROGRAM = `import { CapstanError, defineTool, openHost, parseAgent, type LoggedEvent, type TurnResult } from "capstan";
import { z } from "zod";

const add = defineTool({
  name: "add",
  description: "Adds.",
  input: z.object({ a: z.number(), b: z.number() }),
  annotations: { readOnly: true },
  handler: ({ a, b }) => String(a + b),
});
const agent = parseAgent({ name: "user", model: "claude-opus-4-8", tools: ["Bash"], permissions: { allow: ["Bash"] } });
const outcomes: LoggedEvent[] = [];
{
  await using host = await openHost({ rehearsal: true });
  const session = await host.startSession({ agent, cwd: process.cwd(), tools: [add] });
  const turn = session.send('run echo hi, then use add with {"a": 2, "b": 3}');
  for await (const item of turn) if (item.type === "agent.tool_result") outcomes.push(item);
  const result: TurnResult = await turn.result();
  console.log(outcomes.length, result.stopReason.type, result.text.includes("hi"), result.text.includes("5"));
  await host.resumeSession("nope").catch((error: unknown) => {
    if (error instanceof CapstanError) console.log(error.code, error.exitCode);
  });
}
`;

test("its types serve a strict program, which runs on both", async ({ skip }) => {
  skip(offline !== undefined, `No npm registry: ${offline}`);
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2022",
    lib: ["es2022", "esnext.disposable"],
    types: ["node"],
    typeRoots: [resolve("node_modules/@types")],
    outDir: "out",
  };
  writeFileSync(join(user, "program.ts"), PROGRAM);
  writeFileSync(join(user, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
  await run(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", user]);
  for (const { node } of nodes) {
    const { stdout } = await run(node, ["out/program.js"], { cwd: user, env: environment(node) });
    expect(stdout).toBe("2 end_turn true true\nnot_found 2\n");
  }
});
