import type { OutputChecks } from "../core/output.ts";
import type { ToolServerFactory } from "../engines/claude/engine.ts";

// Most sessions have neither tools of the host nor an output schema, and need not wait for MCP and a schema compiler.

export const createToolServer: ToolServerFactory = async (options) =>
  (await import("../tools/mcp-bridge.ts")).createToolServer(options);

export const outputs: OutputChecks = {
  fromSchema: async (schema) => (await import("../tools/output.ts")).outputFromSchema(schema),
  fromJsonSchema: async (schema) => (await import("../tools/output.ts")).outputFromJsonSchema(schema),
};
