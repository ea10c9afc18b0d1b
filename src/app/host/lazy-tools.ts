import type { OutputChecks } from "../../core/agent/output.ts";
import type { ToolServerFactory } from "../../engines/claude/engine.ts";
import type { ServerClientFactory } from "../../engines/direct/mcp-tools.ts";
import type { LoadFunctions } from "../../runtime/calls/custom-tools.ts";
import type { CompileSchema } from "../../engines/direct/line/input-checks.ts";
import type { RemoteServerFactory } from "../../mcp/remote-servers.ts";

// Most sessions have no host tools, functions or output schema, and need not wait for MCP and a schema compiler.

export const createToolServerLazily: ToolServerFactory = async (options) =>
  (await import("../../mcp/bridge.ts")).createToolServer(options);

export const connectRemoteServerLazily: RemoteServerFactory = async (options) =>
  (await import("../../mcp/remote/server.ts")).connectRemoteServer(options);

export const connectServerLazily: ServerClientFactory = async (options) =>
  (await import("../../mcp/client/server-client.ts")).connectServer(options);

export const loadFunctionsLazily: LoadFunctions = async (modules) =>
  modules.length === 0 ? [] : (await import("../../tools/function-modules.ts")).loadFunctions(modules);

export const outputs: OutputChecks = {
  fromSchema: async (schema) => (await import("../../tools/output.ts")).outputFromSchema(schema),
  fromJsonSchema: async (schema) => (await import("../../tools/output.ts")).outputFromJsonSchema(schema),
};

/** Compiled only when the model calls a tool. */
export const compileSchema: CompileSchema = async (schema, options) =>
  (await import("../../tools/json-schema.ts")).compileJsonSchema(schema, options);
