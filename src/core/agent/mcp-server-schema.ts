import { z } from "zod";

/** The server that carries the host's own tools has this name; no other server may pass for it. */
export const HOST_SERVER = "capstan";

/** What is wrong with a server's name. It becomes a part of its tools' names, `mcp__server__tool`. */
function problemWithServerName(text: string): string | undefined {
  if (text.toLowerCase() === HOST_SERVER) return `the name ${HOST_SERVER} is reserved; give the server another one`;
  return /^(?=.{1,63}$)[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*$/.test(text)
    ? undefined
    : "a server's name has up to 63 letters, digits, dashes and single underscores, and starts with a letter";
}

/** What happens to calls of a server's tools, by the tool's name; `*` is every tool without a line of its own. */
const toolPolicy = z.record(
  z.string().regex(/^([\w./-]+|\*)$/, "the name of one of the server's tools, or *"),
  z.enum(["allow", "ask", "deny"]),
);

/** A program that speaks MCP on its standard input and output. */
const program = z.strictObject({
  type: z.literal("stdio").optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** The variables it sees, besides the few that every program needs. `${NAME}` is looked up when it is started. */
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "a name of a variable"), z.string()).default({}),
  /** Where commands run in a sandbox, this program does not. Default: it does, and has no network there. */
  outside_sandbox: z.boolean().optional(),
  tools: toolPolicy.optional(),
});

/** They belong to HTTP, or to the protocol. */
const OWN_HEADERS =
  /^(?:accept|connection|content-(?:length|type)|host|last-event-id|mcp-(?:protocol-version|session-id)|transfer-encoding)$/i;

const headers = z
  .record(z.string().regex(/^[\w-]+$/, "a name of a header"), z.string())
  .superRefine((given, context) => {
    for (const name of Object.keys(given).filter((name) => OWN_HEADERS.test(name)))
      context.addIssue({ code: "custom", path: [name], message: "the protocol itself sets this header; leave it out" });
  });

/** A server somewhere else. The host talks to it; the agent's process gets to know neither its address nor the headers. */
const remote = z.strictObject({
  type: z.enum(["http", "sse"]),
  url: z
    .url({ protocol: /^https?$/, error: "an address that begins with https:// or http://" })
    .refine(
      (url) => !/^https?:\/\/[^/?#]*@/i.test(url),
      "an address without a name and password: send those in headers",
    ),
  /** `${NAME}` is looked up when a session needs it, and is not stored. */
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

/** What may hold secrets: the variables of a program, or the headers for a server somewhere else. */
export function hiddenValues(server: McpServer): Readonly<Record<string, string>> {
  return isRemote(server) ? server.headers : server.env;
}

export function withHiddenValues(server: McpServer, values: Record<string, string>): McpServer {
  return isRemote(server) ? { ...server, headers: values } : { ...server, env: values };
}

/** A tool's name as rules, the log and the model know it: engines put `_` in the place of what the model API does not take. */
export function engineToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool.replaceAll(/[^\w-]/g, "_")}`;
}

/** Whether it belongs into the sandbox, where there is one: what runs somewhere else is in none. */
export function belongsInSandbox(server: McpServer): boolean {
  return !isRemote(server) && server.outside_sandbox !== true;
}
