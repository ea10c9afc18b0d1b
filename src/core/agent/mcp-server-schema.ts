import { z } from "zod";

/** The name of the server that carries the host's own tools; no other server may use it. */
export const HOST_SERVER = "capstan";

/** The problem with a server's name, which becomes a part of its tools' names: `mcp__server__tool`. */
function problemWithServerName(text: string): string | undefined {
  if (text.toLowerCase() === HOST_SERVER) return `the name ${HOST_SERVER} is reserved; choose another one`;
  return /^(?=.{1,63}$)[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*$/.test(text)
    ? undefined
    : "a server's name has up to 63 letters, digits, dashes and single underscores, and starts with a letter";
}

/** What happens to calls of a server's tools, by tool name; `*` covers every tool without its own entry. */
const toolPolicy = z.record(
  z.string().regex(/^([\w./-]+|\*)$/, "the name of one of the server's tools, or *"),
  z.enum(["allow", "ask", "deny"]),
);

/** A program that speaks MCP on stdin and stdout. */
const program = z.strictObject({
  type: z.literal("stdio").optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** Its variables, besides the few that every program needs. `${NAME}` is resolved at start. */
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "a name of a variable"), z.string()).default({}),
  /** Run this program outside the sandbox (default: inside, without network). */
  outside_sandbox: z.boolean().optional(),
  tools: toolPolicy.optional(),
});

/** Headers of HTTP or of the protocol. */
const OWN_HEADERS =
  /^(?:accept|connection|content-(?:length|type)|host|last-event-id|mcp-(?:protocol-version|session-id)|transfer-encoding)$/i;

const headers = z
  .record(z.string().regex(/^[\w-]+$/, "a name of a header"), z.string())
  .superRefine((given, context) => {
    for (const name of Object.keys(given).filter((name) => OWN_HEADERS.test(name)))
      context.addIssue({ code: "custom", path: [name], message: "the protocol sets this header; remove it" });
  });

/** A remote server. The host connects to it; the agent's process sees neither its URL nor the headers. */
const remote = z.strictObject({
  type: z.enum(["http", "sse"]),
  url: z
    .url({ protocol: /^https?$/, error: "an address that starts with https:// or http://" })
    .refine(
      (url) => !/^https?:\/\/[^/?#]*@/i.test(url),
      "an address without a user name and password; use headers instead",
    ),
  /** `${NAME}` is resolved when a session needs it, and is not saved. */
  headers: headers.default({}),
  tools: toolPolicy.optional(),
});

const mcpServer = z.discriminatedUnion("type", [program, remote]);

export const mcpServers = z.record(z.string(), mcpServer).superRefine((servers, context) => {
  for (const server of Object.keys(servers)) {
    const message = problemWithServerName(server);
    if (message !== undefined) context.addIssue({ code: "custom", path: [server], message });
  }
});

export type McpServer = z.infer<typeof mcpServer>;
export type McpProgram = z.infer<typeof program>;
export type RemoteMcpServer = z.infer<typeof remote>;

export function isRemote(server: McpServer): server is RemoteMcpServer {
  return server.type === "http" || server.type === "sse";
}

/** Values that may contain secrets: a program's variables, or a remote server's headers. */
export function hiddenValues(server: McpServer): Readonly<Record<string, string>> {
  return isRemote(server) ? server.headers : server.env;
}

export function withHiddenValues(server: McpServer, values: Record<string, string>): McpServer {
  return isRemote(server) ? { ...server, headers: values } : { ...server, env: values };
}

/**
 * A tool's name in rules, in the log and for the model: engines replace characters that the model API refuses with `_`.
 */
export function engineToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool.replaceAll(/[^\w-]/g, "_")}`;
}

/** Whether the server belongs in the sandbox, if there is one. Remote servers never do. */
export function belongsInSandbox(server: McpServer): boolean {
  return !isRemote(server) && server.outside_sandbox !== true;
}
