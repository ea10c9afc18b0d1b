import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectRemoteServerLazily, connectServerLazily } from "../../../src/app/host/lazy-tools.ts";
import type { AgentDefinition } from "../../../src/core/agent/agent-definition.ts";
import type { EngineHost } from "../../../src/core/ports/engine.ts";
import { type McpParts, type McpTools, openMcpTools } from "../../../src/engines/direct/mcp-tools.ts";
import type { BuiltinOutcome } from "../../../src/engines/direct/tools/builtin-tool.ts";
import { findContainment } from "../../../src/process/containment.ts";
import { temporaryDirectory } from "../../support/host.ts";

type Servers = NonNullable<AgentDefinition["mcp_servers"]>;

export const support = (name: string): string => fileURLToPath(import.meta.resolve(`../../support/${name}`));

/** A server of ours, as a program. */
export const program = (name: string, env: Record<string, string> = {}): Servers[string] => ({
  command: process.execPath,
  args: [support(name)],
  env,
});

interface Opened extends AsyncDisposable, McpTools {
  readonly stateDir: string;
  readonly path: string;
  call(tool: string, input?: Record<string, unknown>, signal?: AbortSignal): Promise<BuiltinOutcome>;
}

/** Opens these servers as a session does. `servers` is given a directory of the test's own. */
export async function openServers(
  servers: (path: string) => Record<string, object>,
  more: Partial<McpParts> & {
    readonly answer?: EngineHost["elicit"];
    /** What the files of the servers must hold. */
    readonly files?: (path: string) => Record<string, Record<string, string>>;
  } = {},
): Promise<Opened> {
  await using stack = new AsyncDisposableStack();
  const { path } = stack.use(temporaryDirectory());
  const [cwd, stateDir] = [join(path, "workspace"), join(path, "state")];
  for (const directory of [cwd, join(stateDir, "home")]) mkdirSync(directory, { recursive: true });
  const agent = { mcp_servers: servers(path) } as unknown as AgentDefinition;
  const { answer = async () => ({ action: "cancel" }), files, ...parts } = more;
  const opened = await openMcpTools(
    { agent, cwd, stateDir, sessionId: "sesn_1", ...(files && { serverFiles: files(path) }) },
    {
      path: process.env["PATH"] ?? "/usr/bin:/bin",
      host: { elicit: answer },
      connectRemoteServer: connectRemoteServerLazily,
      connectServer: connectServerLazily,
      containment: await findContainment(),
      ...parts,
    },
  );
  stack.defer(() => opened.close());
  const kept = stack.move();
  return {
    get tools() {
      return opened.tools;
    },
    use: () => opened.use(),
    close: () => opened.close(),
    kill: () => opened.kill(),
    stateDir,
    path,
    async call(name, input = {}, signal = new AbortController().signal) {
      const tool = opened.tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`There is no tool ${name}.`);
      return tool.run(input, { callId: "toolu_1", signal, threadId: undefined });
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
