import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { engineToolName } from "../../core/agent/mcp-server-schema.ts";
import { CALL_ID } from "../bridge.ts";

/** The part of a request that must be known to allow it. */
const message = z.object({
  method: z.string().optional(),
  params: z
    .object({
      name: z.string().optional(),
      arguments: z.record(z.string(), z.unknown()).optional(),
      _meta: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
});

/** A call as it passed the gate. */
export interface GrantedCall {
  readonly callId: string;
  /** The engine's name for it. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface OneCall {
  readonly server: string;
  readonly callId: string;
  /** Undefined until the gate has allowed a call. */
  readonly grantedCall: () => GrantedCall | undefined;
}

export interface Loopback {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Offers a server of this process to an agent process over loopback, for one call: a process that resumes a waiting
 * call runs it before it connects to servers that are passed in any other way. The URL contains a secret, and only this
 * call is allowed, with the tool and the input that passed the gate: someone who learns the URL and the call's id can
 * run nothing else.
 */
export async function serveOneCall(
  instance: McpServer,
  { server: name, callId, grantedCall }: OneCall,
): Promise<Loopback> {
  const secret = randomBytes(32).toString("base64url");
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await instance.connect(transport);
  let isUsed = false;
  const isLetThrough = (body: unknown): boolean => {
    const parsed = message.safeParse(body);
    if (!parsed.success) return false;
    if (parsed.data.method !== "tools/call") return true;
    const { params } = parsed.data;
    const call = grantedCall();
    const isRight =
      !isUsed &&
      call?.callId === callId &&
      params?._meta?.[CALL_ID] === callId &&
      engineToolName(name, params.name ?? "") === call.tool &&
      isDeepStrictEqual(params.arguments ?? {}, call.input);
    isUsed ||= isRight;
    return isRight;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isSame(request.url ?? "", `/${secret}`)) return void response.writeHead(404).end();
    const body: unknown = request.method === "POST" ? JSON.parse(await text(request)) : undefined;
    if (body !== undefined && !isLetThrough(body)) return void response.writeHead(403).end();
    await transport.handleRequest(request, response, body);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await listening(server);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${secret}`,
    close: async () => {
      server.close();
      await instance.close();
      server.closeAllConnections();
    },
  };
}

async function listening(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
}

function isSame(given: string, expected: string): boolean {
  return given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
