import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { temporaryDirectory } from "../test/support/host.ts";
import { type Script, scriptedModel, type ScriptedModel } from "../test/support/scripted-model.ts";
import { answer } from "./turns.ts";

interface ServedOptions {
  /** The text of a settings file. */
  readonly settings?: string;
  /** Default: the built CLI, as users get it. */
  readonly fromSource?: boolean;
  readonly script?: Script;
  /** A model API that is there already, instead of one with that script. */
  readonly modelUrl?: string;
}

export interface Served extends AsyncDisposable {
  readonly url: string;
  readonly client: Anthropic;
  readonly apiKey: string;
  readonly pid: number;
  readonly model: ScriptedModel;
  readonly cwd: string;
  /** Where its store is. */
  readonly home: string;
  readonly path: string;
  /** An agent without tools, and an empty workspace. */
  readonly agent: string;
  readonly environment: string;
}

/** A server in a separate process, with a scripted model, and the official client. */
export async function startServer({
  settings = "",
  fromSource = false,
  script = answer,
  modelUrl,
}: ServedOptions = {}): Promise<Served> {
  const cli = resolve(fromSource ? "src/cli/main.ts" : "dist/cli/main.js");
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(script));
  const [home, cwd] = [join(directory.path, "home"), join(directory.path, "work")];
  for (const path of [join(home, ".capstan"), cwd]) mkdirSync(path, { recursive: true });
  writeFileSync(join(home, ".capstan", "config.yaml"), settings);
  const path = process.env["PATH"] ?? "";
  const env = { PATH: path, HOME: home, ANTHROPIC_BASE_URL: modelUrl ?? model.url, ANTHROPIC_API_KEY: "bench" };
  const run = (...args: string[]): ChildProcess =>
    spawn(process.execPath, [cli, ...args], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  const { key: apiKey } = await firstLine<{ key: string }>(run("keys", "create", "--role", "admin", "--json"));
  const server = run("serve", "--port", "0", "--json", "--log-level", "error");
  stack.defer(async () => {
    server.kill("SIGTERM");
    await once(server, "exit");
  });
  const { url } = await firstLine<{ url: string }>(server);
  const client = new Anthropic({ baseURL: url, apiKey, maxRetries: 0 });
  const { id: agent } = await client.beta.agents.create({ name: "bench", model: "claude-opus-4-8" });
  const { id: environment } = await client.beta.environments.create({ name: "bench" });
  const parts = stack.move();
  const dispose = (): Promise<void> => parts.disposeAsync();
  const pid = server.pid ?? 0;
  const place = { cwd, home: join(home, ".capstan"), path };
  return { url, client, apiKey, pid, model, ...place, agent, environment, [Symbol.asyncDispose]: dispose };
}

/** Parses a program's first line of output as JSON. */
export async function firstLine<T>(child: ChildProcess): Promise<T> {
  if (child.stdout === null) throw new Error("It has no output.");
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as T;
  throw new Error("It said nothing.");
}
