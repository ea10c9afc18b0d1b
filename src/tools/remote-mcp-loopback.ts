import { randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { CALL_ID } from "./mcp-bridge.ts";

/** As much of a request as must be known to let it through. */
const message = z.object({
  method: z.string().optional(),
  params: z.object({ _meta: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export interface Loopback {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * Lends a server of this process to an agent process over loopback, for one call: a process that takes up a call that
 * waited runs it before it knows the servers that are given to it in any other way. The address holds a secret, and no
 * other call than that one is let through, so that nobody gets past the gate by it.
 */
export async function serveOneCall(instance: McpServer, callId: string): Promise<Loopback> {
  const secret = randomBytes(32).toString("base64url");
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await instance.connect(transport);
  let isUsed = false;
  const isLetThrough = (body: unknown): boolean => {
    const parsed = message.safeParse(body);
    if (!parsed.success) return false;
    if (parsed.data.method !== "tools/call") return true;
    const isRight = !isUsed && parsed.data.params?._meta?.[CALL_ID] === callId;
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
