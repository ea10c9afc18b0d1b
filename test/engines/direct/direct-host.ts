import { homedir } from "node:os";
import { join } from "node:path";
import { clock, ids } from "../../../src/app/clock.ts";
import { machineCapacity } from "../../../src/app/capacity.ts";
import { hookCommands } from "../../../src/app/hook-command.ts";
import { compileSchema, loadFunctions, outputs } from "../../../src/app/lazy-tools.ts";
import { isGone, thisProcess } from "../../../src/app/processes.ts";
import { workspacesIn } from "../../../src/app/workspaces.ts";
import { pricesWith } from "../../../src/core/pricing.ts";
import { createRedactor } from "../../../src/core/redaction.ts";
import { directEngine } from "../../../src/engines/direct/engine.ts";
import { openGateway } from "../../../src/gateway/gateway.ts";
import { httpUpstream } from "../../../src/gateway/http-upstream.ts";
import { Runtime } from "../../../src/runtime/runtime.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { temporaryDirectory } from "../../support/host.ts";
import { type Script, type ScriptedModel, scriptedModel } from "../../support/scripted-model.ts";

export interface DirectHost extends AsyncDisposable {
  readonly host: Runtime;
  readonly model: ScriptedModel;
  readonly cwd: string;
}

/** A real runtime, gateway and store around the direct engine; only the model is scripted. */
export async function directHost(script: Script, { retries = 1 }: { retries?: number } = {}): Promise<DirectHost> {
  await using stack = new AsyncDisposableStack();
  const { path: home } = stack.use(temporaryDirectory());
  const { path: cwd } = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(script));
  const path = process.env["PATH"] ?? "/usr/bin:/bin";
  const credential = { kind: "api_key", secret: "sk-test" } as const;
  const upstream = httpUpstream({ baseUrl: new URL(model.url), credential });
  const gateway = stack.use(await openGateway({ upstream, clock }));
  const store = stack.use(await openSqliteStore({ path: join(home, "capstan.db"), clock }));
  const host = stack.use(
    new Runtime({
      store,
      gateway,
      engine: directEngine({ path, retries }, { compileSchema }),
      clock,
      ids,
      owner: thisProcess(ids.next("host")),
      isGone,
      home: homedir(),
      stateRoot: join(home, "sessions"),
      capstanHome: home,
      secretFiles: [],
      workspaces: workspacesIn(home, []),
      hibernateAfterMs: 600_000,
      release: async () => {},
      outputs,
      loadFunctions,
      variable: () => undefined,
      provider: undefined,
      runHookCommand: hookCommands({ path }),
      redactor: createRedactor(),
      ...machineCapacity({ max_load: 1_000, min_free_bytes: 0 }),
      budgets: { settings: {}, prices: pricesWith({}) },
    }),
  );
  const parts = stack.move();
  return { host, model, cwd, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
