import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { TEMPLATES } from "../src/cli/init/init.ts";
import { FASTER, putProgram } from "./support/cli.ts";
import { temporaryDirectory } from "./support/host.ts";
import { installation, onTestEngine } from "./support/installation.ts";
import { TEST_ENGINE } from "./support/test-engine.ts";

const run = promisify(execFile);
const examples = readdirSync("examples").filter((file) => file.endsWith(".ts"));

/** What the comment at the head of an example promises: one `// prints: …` line for each piece of output. */
function promisesOf(file: string): string[] {
  return [...readFileSync(join("examples", file), "utf8").matchAll(/^\/\/ prints: (.+)$/gm)].map(
    (match) => match[1] ?? "",
  );
}

test.for(examples)("%s prints what it promises, ends by itself and leaves nothing behind", async (file) => {
  const promises = promisesOf(file);
  expect(promises).not.toEqual([]);
  using directory = temporaryDirectory();
  const home = join(directory.path, "home");
  const temporary = join(directory.path, "tmp");
  for (const path of [home, temporary]) mkdirSync(path);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, TMPDIR: temporary, ...FASTER };

  const code = readFileSync(join("examples", file), "utf8");
  using installed = installation([[file, onTestEngine(code)]]);
  // Rejects when the exit code is not 0. The examples import the package by its name, and so run its build.
  const { stdout, stderr } = await run(process.execPath, [file], { cwd: installed.path, env, timeout: 50_000 });
  for (const promise of promises) expect(stdout).toContain(promise);
  expect(stderr).toBe("");
  expect([...readdirSync(home), ...readdirSync(temporary)]).toEqual([]);
});

const AGENTS = "examples/agents";
const agents = readdirSync(AGENTS);

interface Said {
  readonly stdout: string;
  readonly code?: number;
}

test.for(agents)("the agent %s does what its page shows", async (name) => {
  using directory = temporaryDirectory();
  const cwd = join(directory.path, name);
  cpSync(join(AGENTS, name), cwd, { recursive: true });
  symlinkSync(resolve("node_modules"), join(cwd, "node_modules"));
  putProgram(join(directory.path, "bin"));
  const path = [join(directory.path, "bin"), dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"];
  const env = { PATH: path.join(delimiter), HOME: directory.path, CAPSTAN_ENGINE: TEST_ENGINE, ...FASTER };

  const page = readFileSync(`docs/examples/${name}.md`, "utf8");
  const [, shown = ""] = /^```console check\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const steps = shown.split(/^\$ /m).slice(1);
  expect(steps.length).toBeGreaterThan(1);
  for (const step of steps) {
    const [command = "", ...lines] = step.trimEnd().split("\n");
    const [typed = "", code = "0"] = command.split(/ +# exit code (\d+)$/);
    const said = await run("sh", ["-c", `${typed} < /dev/null`], { cwd, env, timeout: 50_000 }).catch(
      (error: unknown) => error as Said,
    );
    expect((said as Said).code ?? 0, `${command}\n${JSON.stringify(said)}`).toBe(Number(code));
    for (const line of lines) expect(timeless(said.stdout)).toContain(timeless(line));
  }
});

function timeless(text: string): string {
  return text.replaceAll(/\d+(?:\.\d)? m?s\b/g, "TIME");
}

test("each agent has a page, and is shown there as it is", () => {
  const pages = readdirSync("docs/examples").map((file) => basename(file, ".md"));
  expect(pages.toSorted()).toEqual(agents.toSorted());
  for (const name of agents) {
    const [, shown] = /^```yaml agent\n([\s\S]*?)^```$/m.exec(readFileSync(`docs/examples/${name}.md`, "utf8")) ?? [];
    const [, ...lines] = readFileSync(join(AGENTS, name, "agent.yaml"), "utf8").split("\n");
    if (shown !== undefined) expect(shown).toBe(lines.join("\n"));
  }
});

test.for(["reviewer", "extractor"] as const)("the agent %s is what init writes", (name) => {
  // The suite of an example shows more than that of a new agent.
  const { "agent.test.yaml": suite, ...files } = TEMPLATES[name].files({
    name,
    schema: "../../../schemas/agent.schema.json",
  });
  expect(suite).toContain("$schema=../../../schemas/suite.schema.json\n");
  for (const [file, text] of Object.entries(files))
    expect(readFileSync(join(AGENTS, name, file), "utf8"), file).toBe(text);
});
