import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { type HostOptions, openHost } from "../../src/app/open-host.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { ANY_PRESSURE, temporaryDirectory, testEnvironment } from "../../test/support/host.ts";
import { firstLine } from "../serve-process.ts";
import { type TurnTime, TurnWatch } from "../turns.ts";
import type { StartedModel } from "./model-process.ts";

/** Of the agent in `test/support/host.ts`, so that both sides send the same. */
const SYSTEM = "You are a test agent.";
const MODEL = "claude-opus-4-8";

/**
 * The model API of both sides, in a process of its own: neither side's work holds up the answers to the other. Its first
 * byte comes after a fixed time; see `model-process.ts`.
 */
export async function startModel(): Promise<AsyncDisposable & { readonly url: string }> {
  const child = spawn(process.execPath, ["bench/direct/model-process.ts"], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const { url } = await firstLine<StartedModel>(child);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
    },
  };
}

export interface BenchHost extends AsyncDisposable {
  readonly host: Host;
  readonly url: string;
  readonly cwd: string;
  readonly path: string;
}

/** A host as programs open it, with that model. */
export async function benchHost(options: HostOptions = {}): Promise<BenchHost> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const { url } = stack.use(await startModel());
  const cwd = join(directory.path, "workspace");
  mkdirSync(cwd);
  const environment = testEnvironment(url);
  const capacity = { ...ANY_PRESSURE, ...options.capacity };
  const host = stack.use(await openHost({ home: join(directory.path, "home"), environment, ...options, capacity }));
  const parts = stack.move();
  return { host, url, cwd, path: environment["PATH"] ?? "", [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** What a program without Capstan would write to talk with a model: it keeps the conversation, and nothing else. */
export class BareChat {
  readonly #client: Anthropic;
  readonly #messages: Anthropic.MessageParam[] = [];

  constructor(url: string) {
    this.#client = new Anthropic({ baseURL: url, apiKey: "bench", maxRetries: 0 });
  }

  async turn(content: string): Promise<TurnTime> {
    const watch = new TurnWatch();
    this.#messages.push({ role: "user", content });
    await this.#ask(watch);
    return watch.end();
  }

  /** A turn with calls: asks, runs what the model calls, answers, and asks again. */
  async loop(content: string, tool: BareTool): Promise<TurnTime> {
    const watch = new TurnWatch();
    this.#messages.push({ role: "user", content });
    for (;;) {
      const answer = await this.#ask(watch, [tool.definition]);
      const uses = answer.content.filter((block) => block.type === "tool_use");
      if (uses.length === 0) return watch.end();
      const results = uses.map(async ({ id, input }) => {
        const said = await tool.run(input as Readonly<Record<string, unknown>>);
        return { type: "tool_result" as const, tool_use_id: id, content: said };
      });
      this.#messages.push({ role: "user", content: await Promise.all(results) });
    }
  }

  async #ask(watch: TurnWatch, tools?: Anthropic.Tool[]): Promise<Anthropic.Message> {
    const common = { model: MODEL, max_tokens: 1_000, system: SYSTEM, messages: this.#messages };
    const stream = this.#client.messages.stream({ ...common, ...(tools !== undefined && { tools }) });
    stream.on("text", () => watch.text());
    const message = await stream.finalMessage();
    this.#messages.push({ role: "assistant", content: message.content });
    return message;
  }
}

export interface BareTool {
  readonly definition: Anthropic.Tool;
  readonly run: (input: Readonly<Record<string, unknown>>) => Promise<string>;
}
