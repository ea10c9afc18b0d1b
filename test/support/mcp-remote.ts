import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { RemoteMcpServer } from "../../src/core/agent/mcp-server-schema.ts";

export interface Listening extends AsyncDisposable {
  readonly origin: string;
  /** Every request so far. */
  readonly requests: readonly IncomingMessage[];
  /** Cuts every connection that is open now. */
  readonly cut: () => void;
}

/** A server on loopback that does what the test wants. */
export async function listen(handler: RequestListener): Promise<Listening> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    cut: () => server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

export interface RemoteMcp extends Listening {
  readonly server: RemoteMcpServer;
  /** The server loses all its sessions, as by a restart. */
  readonly forget: () => void;
  readonly sessions: () => number;
  /** While it is out of order it answers nothing but that. */
  isDown: boolean;
}

/** A real MCP server behind an address; `make` is asked once for each session. */
export async function remoteMcp(
  type: RemoteMcpServer["type"],
  make: () => McpServer,
  more: Partial<RemoteMcpServer> = {},
): Promise<RemoteMcp> {
  const transports = new Map<string, StreamableHTTPServerTransport | SSEServerTransport>();
  const open = async (request: IncomingMessage): Promise<StreamableHTTPServerTransport | undefined> => {
    if (request.method !== "POST") return undefined;
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
      onsessionclosed: (id) => void transports.delete(id),
    });
    await make().connect(transport);
    return transport;
  };
  const listening = await listen((request, response) => {
    if (remote.isDown) return void response.writeHead(503).end();
    const answer = async (): Promise<void> => {
      if (type === "sse" && request.method === "GET") {
        const transport = new SSEServerTransport("/messages", response);
        transports.set(transport.sessionId, transport);
        response.on("close", () => transports.delete(transport.sessionId));
        return make().connect(transport);
      }
      const id =
        new URL(request.url ?? "", "http://x").searchParams.get("sessionId") ?? request.headers["mcp-session-id"];
      const known = id === undefined ? await open(request) : transports.get(String(id));
      if (known instanceof SSEServerTransport) return known.handlePostMessage(request, response);
      if (known !== undefined) return known.handleRequest(request, response);
      response.writeHead(404).end();
    };
    void answer();
  });
  const remote: RemoteMcp = {
    ...listening,
    isDown: false,
    server: { type, url: `${listening.origin}/${type === "sse" ? "sse" : "mcp"}`, headers: {}, ...more },
    forget: () => transports.clear(),
    sessions: () => transports.size,
  };
  return remote;
}
