import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { clock } from "../../../src/app/clock.ts";
import { loadFunctionsLazily } from "../../../src/app/host/lazy-tools.ts";
import { describeTool, requireKnownTools } from "../../../src/app/check/tool-traits.ts";
import type { Configuration } from "../../../src/config/load.ts";
import { budgetLeft, limitOnToolCall, limitOnTurn } from "../../../src/core/session/session-limits.ts";
import type { EngineHost, EngineRequest } from "../../../src/core/ports/engine.ts";
import { CapstanError, messageOf } from "../../../src/core/errors.ts";
import type { SandboxPlan } from "../../../src/core/environment/sandbox.ts";
import { initialState } from "../../../src/core/session/state.ts";
import type { TranscriptStore } from "../../../src/core/ports/store.ts";
import { exceededLimit } from "../../../src/process/limits.ts";
import { remoteServers } from "../../../src/mcp/remote-servers.ts";
import { programServers } from "../../../src/mcp/programs.ts";
import { sdkOptions } from "../../../src/engines/claude/options.ts";
import { writeCommandShell } from "../../../src/engines/claude/start/command-shell.ts";
import { budgetInForce, scopesOf } from "../../../src/runtime/engine/budgets.ts";
import { sessionTools } from "../../../src/runtime/calls/custom-tools.ts";
import { askHooks, listHooks } from "../../../src/runtime/hooks/hooks-list.ts";
import { judgeRun, runHook } from "../../../src/runtime/hooks/hooks-run.ts";
import { readCall } from "../../../src/runtime/policy/policy-call.ts";
import { explainCall } from "../../../src/runtime/policy/policy-check.ts";
import { expandMessage } from "../../../src/runtime/turn/user-message.ts";
import { sandboxOf } from "../../../src/runtime/protected/sandbox.ts";
import { agentForSession } from "../../../src/runtime/recovery/started-agent.ts";
import { engine } from "./engine-observable.ts";
import { checkpoint, workspace } from "./file-observables.ts";
import { help, report, suite } from "./people-observables.ts";

/** An agent file as it was read, and a place for what is made of it. */
export interface Read {
  readonly loaded: Configuration;
  /** The directory that the file is in. */
  readonly cwd: string;
  /** The same for both files of a pair, and empty. */
  readonly scratch: string;
  readonly asked: string;
}

export type Observe = (read: Read) => unknown;

/** What the engine is asked to start. */
function requestOf({ loaded: { agent, sessionEnvironment }, cwd, scratch }: Read): EngineRequest {
  return {
    sessionId: "sesn_0190aaaabbbb7cccdddd0000000000aa",
    agent,
    model: agent.model,
    mode: agent.permissions.mode,
    cwd,
    stateDir: scratch,
    variables: sessionEnvironment.variables,
    gateway: { url: "http://127.0.0.1:1", token: "token" },
    sandbox: planOf({ sessionEnvironment, cwd, scratch }),
    limits: sessionEnvironment.limits,
    tools: [],
    transcripts: {} as TranscriptStore,
    history: [],
    subagents: [],
    lineHistory: async () => [],
    start: { kind: "wait" },
  };
}

function planOf({
  sessionEnvironment: environment,
  cwd,
  scratch,
}: Pick<Configuration, "sessionEnvironment"> & Pick<Read, "cwd" | "scratch">): SandboxPlan {
  const record = { cwd, source: cwd, environment };
  const places = { home: scratch, capstanHome: join(scratch, "capstan"), stateDir: scratch, secretFiles: [] };
  return sandboxOf({ ...places, record, variables: environment.variables });
}

const sdk: Observe = (read) =>
  sdkOptions(
    requestOf(read),
    { path: "/bin", retries: 3 },
    { resume: false, tempDir: "/tmp/x", shellDirectory: "/tmp/shell", confined: true },
  );

/** By what `capstan policy check` calls; agent-pairs.test.ts shows that a session decides the same. */
const explained: Observe = ({ loaded: { agent, sessionEnvironment: environment }, cwd, scratch, asked }) => {
  const host = { home: scratch, capstanHome: join(scratch, "capstan"), secretFiles: [], hasSandbox: () => true };
  const { behavior, decidedBy, remembers } = explainCall(
    { ...host, describeTool, requireKnownTools },
    { call: readCall(asked), agent, environment, cwd },
  );
  return { behavior, decidedBy, remembers };
};

/** Whether a session that has used a little may go on, and what its next request is reserved against. */
const limit: Observe = ({ loaded: { agent, settings } }) => {
  const budgets = { settings: settings.budgets, prices: [] };
  const usage = { input_tokens: 2, output_tokens: 2, cache_read_input_tokens: 2, cache_creation_input_tokens: 0 };
  const state = { ...initialState, usage, usd: 2, turns: 2, toolCalls: 2 };
  const budget = budgetInForce(budgets, { agent: agent.name, budget: agent.budget, state });
  return {
    turn: limitOnTurn(budget, state),
    call: limitOnToolCall(budget, state),
    left: budgetLeft(budget, state),
    deadline: budget.deadline_ms,
    scopes: scopesOf(budgets, { project: "default", agent: agent.name, budget, now: 0 }),
  };
};

/** What is put in front of every command. */
const commandVariables: Observe = ({ loaded: { sessionEnvironment }, scratch }) => {
  const places = { shown: join(scratch, "shell"), hidden: join(scratch, "process"), bash: "/bin/bash", path: "/bin" };
  const outputs = join(scratch, "outputs");
  const { variables } = sessionEnvironment;
  writeCommandShell({ ...places, outputs, variables, hiddenVariables: [] });
  return readFileSync(join(places.shown, "variables.sh"), "utf8");
};

/** The scripts that start a server. */
const serverProcess: Observe = (read) => {
  const { plan, confine } = { plan: planOf({ ...read.loaded, ...read }), confine: ["bwrap"] };
  const { configs } = programServers(requestOf(read), { path: "/bin", confinement: { plan, confine } });
  return Object.values(configs).flatMap(({ args: [file = ""] }) =>
    [file, file.replace(/\.confined$/, "")].map((script) => readFileSync(script, "utf8").replaceAll(/[\w-]{36}/g, "")),
  );
};

/** What the host connects to, and with what. */
const connection: Observe = async (read) => {
  const seen: unknown[] = [];
  const connectRemoteServer: Parameters<typeof remoteServers>[1]["connectRemoteServer"] = async ({ server }) => {
    seen.push(server);
    throw new Error("Nobody is there.");
  };
  const parts = { host: {} as EngineHost, connectRemoteServer };
  await remoteServers(requestOf(read), parts).catch(() => {});
  return seen;
};

/** What commands of hooks are run, and what follows when each of them takes a moment and fails. */
const hooks: Observe = async ({ loaded: { agent } }) => {
  const run: unknown[] = [];
  const ask = askHooks({
    run: async (command, { signal }) => {
      run.push(command);
      await sleep(30, undefined, { signal });
      return { exitCode: 1, stdout: "", stderr: "no" };
    },
    surroundings: () => ({ cwd: "/work", stateDir: "/state" }),
    programs: { listChanged: () => [] },
  });
  const { signal } = new AbortController();
  const all = Object.values(listHooks({ commands: agent.hooks, functions: undefined })).flat();
  const ended = all.map(async (hook) => {
    const { durationMs: _time, ...rest } = judgeRun(hook, await runHook(hook, {}, { ask, signal, clock }), {
      isChange: false,
    });
    return { name: hook.name, calls: hook.matcher?.text, ...rest };
  });
  return { ended: await Promise.all(ended), run };
};

/** The session's agent as it is stored: with its inputs, and with the workspace's CLAUDE.md. */
const started: Observe = ({ loaded: { agent }, cwd, asked }) => {
  const inputs = JSON.parse(asked || "{}") as Record<string, string>;
  const { inPlace } = agentForSession({ agent, inputs }, { default: "claude" });
  return inPlace(cwd).agent.instructions;
};

const tools: Observe = async ({ loaded: { agent } }) =>
  (await sessionTools(loadFunctionsLazily, agent)).map(({ name, description, inputSchema }) => [
    name,
    description,
    inputSchema,
  ]);

export const OBSERVABLES = {
  engine,
  "sdk options": sdk,
  "command variables": commandVariables,
  "explained decision": explained,
  limit,
  "server process": serverProcess,
  connection,
  hooks,
  instructions: started,
  tools,
  message: ({ loaded: { agent }, asked }) => expandMessage(agent, [{ type: "text", text: asked }]),
  "process limit": ({ loaded }) =>
    exceededLimit(loaded.sessionEnvironment.limits, { memory_bytes: 2, processes: 2, cpu_seconds: 2 })?.data,
  workspace,
  checkpoint,
  report,
  suite,
  help,
} as const satisfies Readonly<Record<string, Observe>>;

export const REFUSED = "refused";

/** What is seen, as text; a refusal is something to see too. */
export async function observe(seen: keyof typeof OBSERVABLES, read: Read): Promise<string> {
  try {
    return JSON.stringify((await OBSERVABLES[seen](read)) ?? null);
  } catch (thrown) {
    return `${REFUSED} ${thrown instanceof CapstanError ? thrown.code : "error"}: ${messageOf(thrown)}`;
  }
}
