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

/** As much of a request as must be known to let it through. */
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
  /** As the engine knows it. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface OneCall {
  readonly server: string;
  readonly callId: string;
  /** Undefined until the gate has let a call through. */
  readonly granted: () => GrantedCall | undefined;
}

export interface Loopback {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Lends a server of this process to an agent process over loopback, for one call: a process that takes up a call that
 * waited runs it before it knows the servers that are given to it in any other way. The address holds a secret, and no
 * other call than that one is let through, with the tool and the input that passed the gate: who learns the address and
 * the call's id can run nothing else.
 */
export async function serveOneCall(instance: McpServer, { server: name, callId, granted }: OneCall): Promise<Loopback> {
  const secret = randomBytes(32).toString("base64url");
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await instance.connect(transport);
  let isUsed = false;
  const isLetThrough = (body: unknown): boolean => {
    const parsed = message.safeParse(body);
    if (!parsed.success) return false;
    if (parsed.data.method !== "tools/call") return true;
    const { params } = parsed.data;
    const call = granted();
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
