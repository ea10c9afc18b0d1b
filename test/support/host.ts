import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostOptions, openHost } from "../../src/app/open-host.ts";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import type { LoggedEvent, SessionEvent } from "../../src/core/events/events.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { type Script, type ScriptedModel, scriptedModel } from "./scripted-model.ts";
import { TEST_ENGINE } from "./test-engine.ts";

/** A directory that is gone when the test is over. */
export function temporaryDirectory(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "capstan-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface TestHost extends AsyncDisposable {
  readonly host: Host;
  readonly model: ScriptedModel;
  readonly home: string;
  /** A workspace of the test's own. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** A second host on the same store and model. */
  another(options?: HostOptions): Promise<Host>;
}

/** Limits that no machine reaches, so that what else it is doing decides no test. */
export const ANY_PRESSURE = {
  min_free_bytes: 0,
  max_memory_bytes: Number.MAX_SAFE_INTEGER,
  max_cpu_pressure: 100,
  max_memory_pressure: 100,
  max_loop_delay_ms: Number.MAX_SAFE_INTEGER,
};

/** A real host, on the engine of this run, against a scripted model API. Nothing of this machine's environment gets in. */
export async function testHost(script: Script, options: HostOptions = {}): Promise<TestHost> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(script));
  const cwd = join(directory.path, "workspace");
  mkdirSync(cwd);
  const environment = testEnvironment(model.url);
  const home = join(directory.path, "home");
  const open = (more: HostOptions): Promise<Host> =>
    openHost({
      home,
      environment,
      engine: TEST_ENGINE,
      retries: 1,
      ...more,
      capacity: { ...ANY_PRESSURE, ...more.capacity },
    });
  const host = stack.use(await open(options));
  const parts = stack.move();
  const another = (more: HostOptions = {}): Promise<Host> => open(more);
  return { host, model, home, cwd, environment, another, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

export function testEnvironment(modelUrl: string): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "sk-ant-test-key-that-no-agent-may-see",
  };
}

export const agent = (more: Partial<AgentInput> = {}): AgentInput => ({
  name: "tester",
  instructions: "You are a test agent.",
  model: "claude-opus-4-8",
  ...more,
});

/** Every event of a session so far. */
export async function eventsOf(host: Host, sessionId: string): Promise<readonly LoggedEvent[]> {
  return host.read(sessionId);
}

export function ofType<T extends SessionEvent["type"]>(
  events: readonly SessionEvent[],
  type: T,
): Extract<SessionEvent, { type: T }>[] {
  return events.filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type);
}
