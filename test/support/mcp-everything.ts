import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";

type Servers = NonNullable<AgentInput["mcp_servers"]>;

const PROGRAM = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

/** The server from npm that shows all of the protocol, as a program. */
export const everythingProgram: Servers[string] = { command: process.execPath, args: [PROGRAM, "stdio"] };

/** The same server behind an address, in a process of its own. */
export async function everythingRemote(
  type: "http" | "sse",
): Promise<AsyncDisposable & { readonly server: Servers[string] }> {
  const port = await freePort();
  const child = spawn(process.execPath, [PROGRAM, type === "http" ? "streamableHttp" : "sse"], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.setEncoding("utf8");
  let said = "";
  while (!said.includes(String(port))) said += String(await once(child.stderr, "data"));
  return {
    server: { type, url: `http://127.0.0.1:${port}/${type === "http" ? "mcp" : "sse"}` },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
