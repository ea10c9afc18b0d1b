import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, query, type Query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { type AgentInput, parseAgent } from "../src/index.ts";
import type { TranscriptStore } from "../src/core/ports/store.ts";
import { InputQueue } from "../src/engines/claude/input-queue.ts";
import { sdkOptions } from "../src/engines/claude/options.ts";
import { bareTurn, type TurnTime, TurnWatch } from "./turns.ts";

export interface BareSettings {
  readonly agent: AgentInput;
  readonly cwd: string;
  /** The model API, without a gateway before it. */
  readonly url: string;
  readonly path: string;
  /** Permission hooks; without any, the agent's tools are allowed by name. */
  readonly hooks?: NonNullable<Options["hooks"]>;
}

/**
 * What a program without Capstan would write, for one session: the SDK alone with the options and the environment that
 * Capstan gives it, so that the two do the same work. The transcript is on disk, where the SDK keeps it by itself, and
 * the SDK starts the process its own way.
 */
export class BareSession implements AsyncDisposable {
  readonly #settings: BareSettings;
  readonly #id = `sesn_${randomBytes(16).toString("hex")}`;
  readonly #stateDir = mkdtempSync(join(tmpdir(), "bare-"));
  readonly #input = new InputQueue<SDKUserMessage>();
  #live: Query | undefined;

  constructor(settings: BareSettings) {
    this.#settings = settings;
  }

  /** A process of its own for one turn. */
  async oneTurn(message: string, { resume }: { resume: boolean }): Promise<TurnTime> {
    const options = this.#options(resume);
    const watch = new TurnWatch();
    const messages = query({ prompt: message, options });
    const time = await bareTurn(messages, watch);
    // The process ends by itself; the next sample must not share the machine with it.
    for await (const _rest of messages);
    return time;
  }

  /** A turn of the one process that lives until the session is disposed of. */
  async liveTurn(message: string): Promise<TurnTime> {
    this.#live ??= query({ prompt: this.#input, options: this.#options(false) });
    const watch = new TurnWatch();
    this.#input.push({ type: "user", message: { role: "user", content: message }, parent_tool_use_id: null });
    return bareTurn(this.#live, watch);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#input.end();
    if (this.#live !== undefined) for await (const _rest of this.#live);
  }

  #options(resume: boolean): Options {
    const { agent: input, cwd, url, path, hooks } = this.#settings;
    const agent = parseAgent(input);
    const {
      sessionStore: _store,
      sessionStoreFlush: _flush,
      ...options
    } = sdkOptions(
      {
        sessionId: this.#id,
        agent,
        model: agent.model,
        mode: agent.permissions.mode,
        cwd,
        stateDir: this.#stateDir,
        variables: {},
        gateway: { url, token: "bench" },
        tools: [],
        transcripts: NO_TRANSCRIPTS,
        history: [],
        subagents: [],
        lineHistory: async () => [],
        start: { kind: "wait" },
      },
      { path, retries: 1 },
      { resume, tempDir: this.#stateDir, shellDirectory: this.#stateDir },
    );
    const env = { ...options.env, ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: "bench" };
    return { ...options, env, ...(hooks === undefined ? { allowedTools: agent.tools } : { hooks }) };
  }
}

/** Capstan's options want one; a bare session does not use it. */
const NO_TRANSCRIPTS: TranscriptStore = {
  append: async () => {},
  load: async () => [],
  replace: async () => {},
  paths: async () => [],
};
