import type { WireAgent } from "../../../src/client/index.ts";

export type Definition = WireAgent["definition"];
type Server = NonNullable<Definition["mcp_servers"]>[string];

/** What the server shows instead of a secret. */
const HIDDEN = /\[redacted:[^\]\s]{1,64}\]/;

/** A definition without default values, as people would write it. */
export function withoutDefaults(definition: Definition): Record<string, unknown> {
  const { permissions, mcp_servers: servers, ...rest } = definition;
  const { mode, ...rules } = permissions;
  const said = { ...(mode !== "normal" && { mode }), ...withoutEmpty(rules) };
  const short = Object.entries(servers ?? {}).map(([name, server]) => [name, withoutEmpty(server)]);
  return inOrder(withoutEmpty({ ...rest, permissions: said, mcp_servers: Object.fromEntries(short) }));
}

/** The definition as an agent file, with notes about what such a file cannot contain. */
export function agentFileOf(definition: Definition): { file: Record<string, unknown>; notes: string[] } {
  const { instructions_mode: mode, skills, mcp_servers: servers, functions, ...rest } = definition;
  const { instructions, model, ...plain } = withoutDefaults(rest);
  const notes = Object.keys(skills ?? {}).map(
    (name) => `The skill ${name} is left out. Put its files into a directory and list it under skills.`,
  );
  const fallback = rest.fallback_model;
  const file = {
    ...plain,
    ...(instructions !== undefined && {
      instructions: mode === undefined ? instructions : { text: instructions, mode },
    }),
    ...(typeof model === "string" && { model: plainText(model) }),
    ...(fallback !== undefined && { fallback_model: plainText(fallback) }),
    ...(servers !== undefined && {
      mcp_servers: Object.fromEntries(
        Object.entries(servers).map(([name, server]) => [name, serverOf(name, server, notes)]),
      ),
    }),
    ...(functions !== undefined && {
      functions: functions.map(({ module, ...more }) => ({ module: plainText(module), ...more })),
    }),
  };
  return { file: inOrder(file), notes };
}

/** Converts what a person wrote or pasted to what the server accepts: in an agent file, instructions may be a mapping. */
export function definitionOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { $schema: _, instructions, ...rest } = value as Record<string, unknown>;
  if (instructions === undefined) return rest;
  if (typeof instructions !== "object" || instructions === null) return { ...rest, instructions };
  const { text, mode, ...unknown } = instructions as Record<string, unknown>;
  // The server rejects anything else.
  if (typeof text !== "string" || Object.keys(unknown).length > 0) return { ...rest, instructions };
  return { ...rest, instructions: text, ...(mode !== undefined && { instructions_mode: mode }) };
}

function serverOf(name: string, server: Server, notes: string[]): Record<string, unknown> {
  const secret = (variable: string, what: string): string => {
    notes.push(`${what} of the MCP server ${name} is secret and not shown. Set the variable ${variable}.`);
    return `\${${variable}}`;
  };
  if ("url" in server) {
    const headers = Object.entries(server.headers).map(([header, value]) => [
      header,
      HIDDEN.test(value) ? secret(`${name}_${header}`.replaceAll(/\W/g, "_").toUpperCase(), header) : value,
    ]);
    return withoutEmpty({ ...server, url: plainText(server.url), headers: Object.fromEntries(headers) });
  }
  const env = Object.entries(server.env).map(([key, value]) => [key, HIDDEN.test(value) ? secret(key, key) : value]);
  const { command, args } = server;
  return withoutEmpty({
    ...server,
    command: plainText(command),
    args: args.map(plainText),
    env: Object.fromEntries(env),
  });
}

/** In an agent file `${NAME}` would be looked up. */
function plainText(text: string): string {
  return text.replaceAll("${", () => "$${");
}

/** Identifying fields first, long ones last. */
const ORDER = [
  "name",
  "description",
  "engine",
  "model",
  "fallback_model",
  "effort",
  "thinking",
  "compact_at",
  "auth",
  "instructions",
  "tools",
  "permissions",
  "budget",
];

function inOrder(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).toSorted(([one], [other]) => rankOf(one) - rankOf(other)));
}

function rankOf(key: string): number {
  const place = ORDER.indexOf(key);
  return place < 0 ? ORDER.length : place;
}

function withoutEmpty(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
