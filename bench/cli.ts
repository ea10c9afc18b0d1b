import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { clock, ids } from "../src/app/clock.ts";
import { parseAgent } from "../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../src/core/environment/environment.ts";
import { PLAIN_SESSION } from "../src/core/ports/store.ts";
import { openStore } from "../src/app/open-store.ts";
import { agent, temporaryDirectory } from "../test/support/host.ts";
import { scriptedModel } from "../test/support/scripted-model.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { answer } from "./turns.ts";

const name = "cli";
const SESSIONS = 10_000;
/** The built CLI, as users get it. */
export const CLI = resolve("dist/cli/main.js");
/** The example with the most files. */
const LARGEST_EXAMPLE = resolve("examples/agents/reviewer/agent.yaml");

/** What a command costs before it does anything, and the time to the first word. */
export const commands: BenchCase = {
  name,
  async run() {
    using directory = temporaryDirectory();
    const home = join(directory.path, "home");
    mkdirSync(home);
    await fill(join(home, ".capstan"));
    const env = { PATH: process.env["PATH"] ?? "", HOME: home, CAPSTAN_HOME: join(home, ".capstan") };
    const start = await interleave(
      { rounds: 60, warmUp: 3 },
      {
        node: () => runCommand(["-e", ""], env),
        version: () => runCommand([CLI, "--version"], env),
        list: () => runCommand([CLI, "sessions", "list"], env),
        validate: () => runCommand([CLI, "validate", LARGEST_EXAMPLE], env),
      },
    );
    const first = await firstWords(directory.path);
    return [
      ratioRow(
        { name, what: "capstan --version : an empty Node start", measured: start.version, against: start.node },
        2.5,
      ),
      ratioRow(
        {
          name,
          what: "capstan sessions list, 10,000 sessions : an empty Node start",
          measured: start.list,
          against: start.node,
        },
        4,
      ),
      ratioRow(
        {
          name,
          what: "capstan validate, the largest example : an empty Node start",
          measured: start.validate,
          against: start.node,
        },
        3,
      ),
      ratioRow(
        {
          name,
          what: "first text, capstan run : a bare script with query()",
          measured: first.capstan,
          against: first.bare,
        },
        1.3,
      ),
    ];
  },
};

async function firstWords(directory: string): Promise<Record<"capstan" | "bare", number[]>> {
  await using model = await scriptedModel(answer);
  const home = join(directory, "run");
  mkdirSync(home);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, "claude"),
    CLAUDE_CODE_TMPDIR: home,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_AUTH_TOKEN: "bench",
  };
  return await interleave(
    { rounds: 60, warmUp: 2 },
    {
      capstan: () => firstOutput([CLI, "run", "Say something."], env),
      bare: () => firstOutput([resolve("bench/bare-script.mjs"), "Say something."], env),
    },
  );
}

async function fill(home: string): Promise<void> {
  await using store = await openStore(home);
  const owner = { hostId: ids.next("host"), pid: process.pid, hostname: "bench" };
  for (let number = 0; number < SESSIONS; number += 1) {
    const id = ids.next("sesn");
    const now = clock.now();
    await store.createSession({
      id,
      createdAt: now,
      project: "default",
      agent: parseAgent(agent()),
      environment: parseEnvironment({}),
      cwd: home,
      source: home,
      title: null,
      ...PLAIN_SESSION,
      forkedFrom: null,
    });
    const { fence } = await store.leases.acquire(id, owner, 60_000);
    const content = [{ type: "text" as const, text: `Message ${number}` }];
    await store.append(id, {
      after: 0,
      fence,
      events: [{ type: "user.message", id: ids.next("sevt"), processed_at: null, content }],
    });
  }
}

export async function runCommand(args: readonly string[], env: Record<string, string>): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = (await once(child, "exit")) as [number];
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}.`);
  return performance.now() - started;
}

async function firstOutput(args: readonly string[], env: Record<string, string>): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const took = performance.now() - started;
  child.stdout.resume();
  await once(child, "exit");
  return took;
}
