import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A scripted Messages API on loopback: the one thing a test may stand in for.
 * The script sees every request in order and answers with content blocks or with a fault.
 */
export interface ModelRequest {
  readonly index: number;
  readonly at: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: {
    readonly model: string;
    readonly stream?: boolean;
    readonly system?: unknown;
    readonly messages: readonly ModelMessage[];
    readonly tools?: readonly { readonly name: string; readonly type?: string; readonly input_schema?: unknown }[];
    readonly thinking?: unknown;
  };
  /** `main` or the id the CLI gave the subagent. */
  readonly agent: string;
  /** The texts of the whole conversation, in order, joined: for `toContain` checks. */
  readonly transcript: string;
  /** Content of the last user message as text, tool results included. */
  readonly last: string;
  readonly toolResults: readonly { id: string; text: string; isError: boolean }[];
}

export interface ModelMessage {
  readonly role: "user" | "assistant" | "system";
  readonly content: string | readonly Record<string, unknown>[];
}

export type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | SearchResult
  | ToolUse;

/** Of a search that the API itself made. */
interface SearchResult {
  type: "web_search_tool_result";
  tool_use_id: string;
  content: readonly Record<string, unknown>[] | { type: "web_search_tool_result_error"; error_code: string };
}

interface ToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: Record<string, unknown>;
  /** What is streamed in place of the input, such as JSON that is cut off. */
  json?: string;
}

export interface Reply {
  readonly blocks: readonly Block[];
  readonly stopReason?: string;
  readonly usage?: Partial<Usage>;
  /** Milliseconds between text deltas; text is then sent word by word. */
  readonly pace?: number;
  /** Wait before the first byte. */
  readonly delay?: number | Promise<unknown>;
  /** Cut the connection after this many SSE frames. */
  readonly dropAfter?: number;
  /** Stop sending after this many SSE frames, but keep the connection open. */
  readonly stallAfter?: number;
}

export interface Fault {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

interface Usage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
  server_tool_use?: { web_search_requests: number };
}

export type Script = (request: ModelRequest) => Reply | Fault | Promise<Reply | Fault>;

let callNumber = 0;
export const text = (value: string): Block => ({ type: "text", text: value });
export const thinking = (value: string): Block => ({ type: "thinking", thinking: value, signature: "c2lnbmF0dXJl" });
export const toolUse = (name: string, input: Record<string, unknown>, id?: string): ToolUse => ({
  type: "tool_use",
  id: id ?? `toolu_${process.pid}x${(callNumber += 1)}`,
  name,
  input,
});
export const say = (value: string, rest: Omit<Reply, "blocks"> = {}): Reply => ({ blocks: [text(value)], ...rest });
export const call = (name: string, input: Record<string, unknown>): Reply => ({ blocks: [toolUse(name, input)] });
/** For AskUserQuestion. */
export const WHICH_COLOUR = {
  question: "Which colour?",
  header: "Colour",
  multiSelect: false,
  options: [
    { label: "blue", description: "Like the sea." },
    { label: "red", description: "Like a rose." },
  ],
};
export const apiError = (
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Fault => ({
  status,
  headers,
  body: JSON.stringify({ type: "error", error: { type, message } }),
});

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  script: Script;
}

/** `remembers`: keeps every request. Default: true. */
export async function scriptedModel(
  script: Script,
  { remembers = true }: { readonly remembers?: boolean } = {},
): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  let count = 0;
  const server = createServer((req, res) => {
    res.on("error", () => {});
    void answer(req, res).catch(() => res.destroy());
  });
  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    if (req.method !== "POST" || !req.url?.startsWith("/v1/messages")) {
      res.writeHead(404, { "content-type": "application/json" }).end("{}");
      return;
    }
    const request = readRequest(count, req, Buffer.concat(chunks).toString("utf8"));
    count += 1;
    if (remembers) requests.push(request);
    const reply = await model.script(request);
    if ("status" in reply) {
      res.writeHead(reply.status, { "content-type": "application/json", ...reply.headers }).end(reply.body ?? "");
      return;
    }
    if (typeof reply.delay === "number") await sleep(reply.delay);
    else await reply.delay;
    if (request.body.stream !== true && reply.dropAfter !== undefined) res.destroy();
    else if (request.body.stream === true) await stream(res, request, reply);
    else res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(message(request, reply)));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const model: ScriptedModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return model;
}

function readRequest(index: number, req: IncomingMessage, raw: string): ModelRequest {
  const body = JSON.parse(raw) as ModelRequest["body"];
  const headers = req.headers as Record<string, string | undefined>;
  const blocks = body.messages.flatMap((m) =>
    typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content,
  );
  const last = body.messages.findLast((m) => m.role === "user");
  const lastBlocks =
    last === undefined ? [] : typeof last.content === "string" ? [{ type: "text", text: last.content }] : last.content;
  return {
    index,
    at: Date.now(),
    headers,
    body,
    agent: headers["x-claude-code-agent-id"] ?? "main",
    transcript: blocks.map(blockText).join("\n"),
    last: lastBlocks.map(blockText).join("\n"),
    toolResults: lastBlocks
      .filter((b) => b["type"] === "tool_result")
      .map((b) => ({ id: String(b["tool_use_id"]), text: blockText(b), isError: b["is_error"] === true })),
  };
}

function blockText(block: Record<string, unknown>): string {
  if (block["type"] === "text") return String(block["text"]);
  if (block["type"] === "tool_use") return `${String(block["name"])} ${JSON.stringify(block["input"])}`;
  if (block["type"] !== "tool_result") return "";
  const content = block["content"];
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((c) => blockText(c as Record<string, unknown>)).join("\n") : "";
}

function usageOf(request: ModelRequest, reply: Reply): Usage {
  return {
    input_tokens: 100 + Math.ceil(request.transcript.length / 4),
    output_tokens: 10 + Math.ceil(JSON.stringify(reply.blocks).length / 4),
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    ...reply.usage,
  };
}

function stopReason(reply: Reply): string {
  return reply.stopReason ?? (reply.blocks.some((b) => b.type === "tool_use") ? "tool_use" : "end_turn");
}

function message(request: ModelRequest, reply: Reply): Record<string, unknown> {
  return {
    id: `msg_${process.pid}x${request.index}x${request.at}`,
    type: "message",
    role: "assistant",
    model: request.body.model,
    content: reply.blocks,
    stop_reason: stopReason(reply),
    stop_sequence: null,
    usage: usageOf(request, reply),
  };
}

function* frames(request: ModelRequest, reply: Reply): Generator<Record<string, unknown>> {
  const usage = usageOf(request, reply);
  yield {
    type: "message_start",
    message: { ...message(request, reply), content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  };
  for (const [index, block] of reply.blocks.entries()) {
    if (block.type === "text") {
      yield { type: "content_block_start", index, content_block: { type: "text", text: "" } };
      for (const word of block.text.match(/\S+\s*|\s+/g) ?? [])
        yield { type: "content_block_delta", index, delta: { type: "text_delta", text: word } };
    } else if (block.type === "thinking") {
      yield { type: "content_block_start", index, content_block: { type: "thinking", thinking: "", signature: "" } };
      yield { type: "content_block_delta", index, delta: { type: "thinking_delta", thinking: block.thinking } };
      yield { type: "content_block_delta", index, delta: { type: "signature_delta", signature: block.signature } };
    } else if (block.type === "web_search_tool_result") {
      yield { type: "content_block_start", index, content_block: block };
    } else {
      const { json = JSON.stringify(block.input), ...start } = block;
      yield { type: "content_block_start", index, content_block: { ...start, input: {} } };
      yield { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: json } };
    }
    yield { type: "content_block_stop", index };
  }
  yield { type: "message_delta", delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage };
  yield { type: "message_stop" };
}

async function stream(res: ServerResponse, request: ModelRequest, reply: Reply): Promise<void> {
  res.writeHead(200, { "content-type": "text/event-stream", "request-id": `req_${request.index}` });
  let sent = 0;
  for (const frame of frames(request, reply)) {
    if (res.destroyed) return;
    if (sent === reply.dropAfter) {
      // What was written must reach the other side before the connection breaks.
      await sleep(50);
      res.destroy();
      return;
    }
    if (sent === reply.stallAfter) return;
    res.write(`event: ${String(frame["type"])}\ndata: ${JSON.stringify(frame)}\n\n`);
    sent += 1;
    if (reply.pace !== undefined && frame["type"] === "content_block_delta") await sleep(reply.pace);
  }
  res.end();
}
