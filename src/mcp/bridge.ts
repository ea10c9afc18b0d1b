import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
} from "@modelcontextprotocol/sdk/types.js";
import type { ToolContent } from "../core/events/content.ts";
import { CapstanError } from "../core/errors.ts";
import type { Tool, ToolOutcome } from "../core/ports/tool.ts";

export interface ToolServerOptions {
  /** The server's name in the agent process. */
  readonly name: string;
  readonly tools: readonly Tool[];
  /** Never rejects: every failure is an outcome. */
  readonly run: (tool: Tool, input: unknown, call: ToolServerCall) => Promise<ToolOutcome>;
}

interface ToolServerCall {
  /** The model's id of the call. */
  readonly callId: string;
  /** Aborted when the agent process cancels the call or ends. */
  readonly signal: AbortSignal;
}

/** Where the Agent SDK puts the id of the model's tool_use block. */
export const CALL_ID = "claudecode/toolUseId";
/**
 * Our tools limit their results themselves. If a tool does not ask for more, the CLI replaces its large results with a
 * file path, and the model would see something else than our log. 500 000 is the CLI's maximum.
 */
const LISTED = { "anthropic/maxResultSizeChars": 500_000 };

type McpContent = CallToolResult["content"][number];

/**
 * An MCP server in this process that offers host tools to one agent process. Create one per query: it can't be shared.
 */
export function createToolServer({ name, tools, run }: ToolServerOptions): McpServer {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const twice = tools.find((tool) => byName.get(tool.name) !== tool);
  if (twice !== undefined) throw new CapstanError("invalid_input", `Two tools are named ${twice.name}. Rename one.`);

  const mcp = new McpServer({ name, version: "1" }, { capabilities: { tools: {} } });
  // The low-level handlers, because the high-level ones accept only zod schemas and check the input again.
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema, annotations, custom }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: "object" as const },
      // The CLI runs read-only tools in parallel: calls that wait for clients must not wait for each other.
      annotations: { readOnlyHint: annotations.readOnly || custom === true, destructiveHint: annotations.destructive },
      _meta: LISTED,
    })),
  }));
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = byName.get(params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `Unknown tool ${params.name}.`);
    const callId = params._meta?.[CALL_ID];
    // Without it, no permission, event or result could be linked to the call.
    if (typeof callId !== "string") throw new McpError(ErrorCode.InvalidParams, `The call has no ${CALL_ID}.`);
    const { content, isError } = await run(tool, params.arguments ?? {}, { callId, signal });
    return { isError, content: content.flatMap(toMcp) };
  });
  return mcp;
}

/** MCP can't represent some blocks; those become text, so that nothing is lost silently. */
function toMcp(block: ToolContent[number], index: number): McpContent[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "image":
      if (block.source.type === "base64")
        return [{ type: "image", data: block.source.data, mimeType: block.source.media_type }];
      return [linkContent(block.source, "image")];
    case "search_result": {
      const text = [`${block.title} (${block.source})`, ...block.content.map(({ text }) => text)].join("\n");
      return [{ type: "text", text }];
    }
    case "document": {
      const context = block.context == null ? [] : [{ type: "text" as const, text: block.context }];
      return [...context, documentToMcp(block, block.title ?? `document:${index}`)];
    }
  }
}

type DocumentBlock = Extract<ToolContent[number], { type: "document" }>;

function documentToMcp({ source }: DocumentBlock, uri: string): McpContent {
  if (source.type === "text")
    return { type: "resource", resource: { uri, text: source.data, mimeType: source.media_type } };
  if (source.type === "base64")
    return { type: "resource", resource: { uri, blob: source.data, mimeType: source.media_type } };
  return linkContent(source, uri);
}

function linkContent(
  source: { readonly type: "url"; readonly url: string } | { readonly type: "file"; readonly file_id: string },
  name: string,
): McpContent {
  if (source.type === "url") return { type: "resource_link", uri: source.url, name };
  return { type: "text", text: `[${name}: file ${source.file_id}]` };
}
