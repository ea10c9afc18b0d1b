import { join } from "node:path";
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { hostCapacity } from "../src/app/host/capacity.ts";
import { clock, ids } from "../src/app/clock.ts";
import { hookCommands } from "../src/app/host/hook-command.ts";
import { loadFunctionsLazily, outputs } from "../src/app/host/lazy-tools.ts";
import { openStore } from "../src/app/open-store.ts";
import { isGone, thisProcess } from "../src/app/host/processes.ts";
import { workspacesIn } from "../src/app/host/workspaces.ts";
import type { Engine, EngineHost, EngineSession } from "../src/core/ports/engine.ts";
import type { Gateway } from "../src/core/ports/gateway.ts";
import { pricesWith } from "../src/core/money/pricing.ts";
import { createRedactor } from "../src/core/redaction/redaction.ts";
import { directCapabilities } from "../src/engines/direct/capabilities.ts";
import { gate } from "../src/engines/claude/hooks.ts";
import { Runtime } from "../src/runtime/runtime.ts";
import { agent, testHost } from "../test/support/host.ts";
import { call, say, type Script } from "../test/support/scripted-model.ts";
import { BareSession } from "./bare.ts";
import { inTurn, interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { ends } from "./turns.ts";

const name = "tool-gate";
const PROCESSES = 3;
const worker = agent({ tools: ["Bash"], permissions: { allow: ["Bash(true)"] } });
/** One call, then a word. */
const oneCall: Script = ({ toolResults }) =>
  toolResults.length === 0 ? call("Bash", { command: "true" }) : say("Done, just as you asked.", { pace: 1 });

/** What deciding and storing a call adds to a turn with one call. Both sides are the bare SDK; only the hook differs. */
export const toolGate: BenchCase = {
  name,
  async run() {
    await using stack = new AsyncDisposableStack();
    const { model, cwd, home, environment } = stack.use(await testHost(oneCall));
    const settings = { agent: worker, cwd, url: model.url, path: environment["PATH"] ?? "" };
    const pairs = await Promise.all(
      Array.from({ length: PROCESSES }, async (_, index) => {
        const { host, close } = await decidingHost(join(home, `gate-${index}`), cwd);
        stack.defer(close);
        const calls: string[] = [];
        return {
          gated: stack.use(new BareSession({ ...settings, hooks: gateOf(host, calls) })),
          /** Stores the outcomes of the last turn's calls, as a session does during its turn. */
          settle: async () => {
            for (const callId of calls.splice(0))
              await host.emit({ kind: "tool_result", callId, content: [], isError: false });
          },
          waved: stack.use(new BareSession({ ...settings, hooks: wave })),
          bare: stack.use(new BareSession(settings)),
        };
      }),
    );
    const pair = (round: number) => inTurn(pairs, round);
    const { gated, waved, bare } = await interleave(
      { rounds: 180, warmUp: 4 * PROCESSES },
      {
        gated: async (round) => {
          await pair(round).settle();
          return pair(round).gated.liveTurn(`Message ${round}`);
        },
        waved: (round) => pair(round).waved.liveTurn(`Message ${round}`),
        bare: (round) => pair(round).bare.liveTurn(`Message ${round}`),
      },
    );
    return [
      ratioRow(
        { name, what: "turn with one call, with PreToolUse : without", measured: ends(gated), against: ends(bare) },
        1.05,
      ),
      ratioRow({ name, what: "the same with a hook that only says yes", measured: ends(waved), against: ends(bare) }),
    ];
  },
};

/** The cost of any hook: the round trip from the CLI to the program. */
const wave: NonNullable<Options["hooks"]> = {
  PreToolUse: [
    {
      hooks: [
        async () => ({
          hookSpecificOutput: { hookEventName: "PreToolUse" as const, permissionDecision: "allow" as const },
        }),
      ],
    },
  ],
};

/** The gate of the Claude engine. The call is logged before it is decided, as in a session. */
function gateOf(host: EngineHost, calls: string[]) {
  const announced = async (callId: string): Promise<void> => {
    calls.push(callId);
    const input = { command: "true" };
    const draft = { type: "agent.tool_use" as const, call_id: callId, name: "Bash", engine_name: "Bash", input };
    await host.emit({ kind: "event", draft });
  };
  return gate(host, { tools: [], waitForAnnouncement: announced, oneCall: false });
}

/** A real host and session whose engine is the benchmark itself: everything except the process. */
async function decidingHost(home: string, cwd: string): Promise<{ host: EngineHost; close: () => Promise<void> }> {
  const captured = Promise.withResolvers<EngineHost>();
  const session: EngineSession = {
    pid: process.pid,
    history: "new",
    contained: true,
    send: () => {},
    interrupt: async () => {},
    close: async () => {},
    kill: () => {},
  };
  const store = await openStore(home);
  const open: Engine["open"] = async (_request, host) => {
    captured.resolve(host);
    return session;
  };
  const gateway: Gateway = {
    admit: async () => ({ url: "", token: "", close: async () => {} }),
    [Symbol.asyncDispose]: async () => {},
  };
  const runtime = new Runtime({
    store,
    gateway,
    engines: {
      default: "direct",
      load: async () => ({ name: "direct", version: "0", capabilities: directCapabilities, validate: () => {}, open }),
    },
    clock,
    ids,
    owner: thisProcess(ids.next("host")),
    isGone,
    home,
    isTrustedFile: () => false,
    stateRoot: join(home, "sessions"),
    secretFiles: [],
    capstanHome: home,
    workspaces: workspacesIn(home, []),
    hibernateAfterMs: 600_000,
    release: async () => store[Symbol.asyncDispose](),
    outputs,
    loadFunctions: loadFunctionsLazily,
    variable: () => undefined,
    provider: undefined,
    runHookCommand: hookCommands({ path: "/usr/bin:/bin" }),
    redactor: createRedactor(),
    budgets: { settings: {}, prices: pricesWith({}) },
    ...hostCapacity({}),
  });
  // The checkpoint case measures checkpoints.
  const environment = { checkpoints: { mode: "off" as const } };
  const driven = await runtime.startSession({ agent: worker, cwd, environment });
  const close = async (): Promise<void> => {
    await driven.close();
    await runtime.close();
  };
  return { host: await captured.promise, close };
}
