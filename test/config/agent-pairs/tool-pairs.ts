import { fileURLToPath } from "node:url";
import { type Pair, pair } from "./pair.ts";

const server = (field: string): string => `mcp_servers: { files: { command: serve${field} } }`;
const remote = (field: string): string => `mcp_servers: { shop: { ${field} } }`;
const http = (field: string): string => remote(`type: http, url: 'https://shop.example/mcp'${field}`);
const custom = (field: string): string => `custom_tools: [{ ${field}, input_schema: { type: object } }]`;
const OFFICE = JSON.stringify(fileURLToPath(new URL("../../support/mcp-server.ts", import.meta.url)));
/** One that is really started. */
const office = (tools: string): string =>
  `mcp_servers: { office: { command: ${JSON.stringify(process.execPath)}, args: [${OFFICE}], tools: ${tools} } }`;
const MAKE = { both: "tools: [Bash]", asked: "Bash(make all)" };
const permissions = (field: string): string => `permissions: { ${field} }`;
/** Without the field a person is asked. */
const permission = (field: string, seen: Pair["seen"] = "decision"): Pair => pair(["", permissions(field)], seen, MAKE);

/** What the agent may call, what is decided about that, and who pays. */
export const TOOL_PAIRS: Readonly<Record<string, Pair>> = {
  "tools[list].*": pair(["tools: [Read]", "tools: [Bash]"], "sdk options"),
  "tools[mapping].*": pair(["tools: { Bash: true }", "tools: { Bash: false }"], "sdk options", {
    both: "extends: base-tools.yaml",
  }),
  "functions.*[text]": pair(["functions: [a.mjs]", "functions: [b.mjs]"], "tools"),
  "functions.*[mapping].module": pair(["functions: [{ module: a.mjs }]", "functions: [{ module: b.mjs }]"], "tools"),
  "functions.*[mapping].exports.*": pair(
    ["functions: [{ module: b.mjs, exports: [second] }]", "functions: [{ module: b.mjs, exports: [third] }]"],
    "tools",
  ),
  // A server that is started has no address, and one with an address is not started.
  "mcp_servers.*.type": pair([server(", type: stdio"), server(", type: http")], "server process", { refused: true }),
  "mcp_servers.*[stdio].command": pair(
    ["mcp_servers: { files: { command: serve } }", "mcp_servers: { files: { command: other } }"],
    "server process",
  ),
  "mcp_servers.*[stdio].args.*": pair([server(", args: [-a]"), server(", args: [-b]")], "server process"),
  "mcp_servers.*[stdio].env.*": pair([server(", env: { A: one }"), server(", env: { A: two }")], "server process"),
  "mcp_servers.*[stdio].outside_sandbox": pair(
    [server(", outside_sandbox: false"), server(", outside_sandbox: true")],
    "server process",
    { both: "environment: { sandbox: { mode: preferred } }" },
  ),
  "mcp_servers.*[stdio].tools.*": pair([office("{ book: ask }"), office("{ book: deny }")], "decision", {
    asked: "mcp__office__book",
  }),
  "mcp_servers.*[http|sse].type": pair([http(""), http("").replace("http,", "sse,")], "connection"),
  "mcp_servers.*[http|sse].url": pair([http(""), http("").replace("shop.example", "b.example")], "connection"),
  "mcp_servers.*[http|sse].headers.*": pair(
    [http(", headers: { X-Shop: one }"), http(", headers: { X-Shop: two }")],
    "connection",
  ),
  "mcp_servers.*[http|sse].tools.*": pair(
    [http(", tools: { list: allow }"), http(", tools: { list: deny }")],
    "explained decision",
    { asked: "mcp__shop__list" },
  ),
  "custom_tools.*.name": pair([custom("name: a, description: d"), custom("name: b, description: d")], "tools"),
  "custom_tools.*.description": pair([custom("name: a, description: d"), custom("name: a, description: e")], "tools"),
  "custom_tools.*.input_schema": pair(
    [
      custom("name: a, description: d"),
      "custom_tools: [{ name: a, description: d, input_schema: { type: object, required: [x] } }]",
    ],
    "tools",
  ),
  auth: pair(["", "auth: auth_token"], "model request", MAKE),
  "permissions.mode": permission("mode: yolo"),
  "permissions.allow.*": permission("allow: [Bash(make all)]"),
  "permissions.ask.*[text]": permission("ask: [Bash(make all)]"),
  "permissions.ask.*[mapping].rule": pair(
    [
      permissions("ask: [{ rule: Bash(make all), remember: true }]"),
      permissions("ask: [{ rule: Bash(make one), remember: true }]"),
    ],
    "explained decision",
    MAKE,
  ),
  "permissions.ask.*[mapping].remember": pair(
    [
      permissions("ask: [{ rule: Bash(make all), remember: true }]"),
      permissions("ask: [{ rule: Bash(make all), remember: false }]"),
    ],
    "decision",
    MAKE,
  ),
  "permissions.deny.*": permission("deny: [Bash(make all)]"),
  "permissions.approvals_expire_ms": permission("approvals_expire_ms: 60000", "end of a question"),
};
