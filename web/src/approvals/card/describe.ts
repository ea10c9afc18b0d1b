import type { WireApproval } from "../../../../src/client/index.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";

type Request = WireApproval["request"];

/** Describes an approval. No part of the input is left out silently. */

export interface Fact {
  readonly name: string;
  readonly text: string;
}

const MCP = /^mcp__(.+?)__(.+)$/;

/** The tool and its MCP server; built-in tools have no server. */
export function toolOf(tool: string): { readonly name: string; readonly server?: string } {
  const [, server, name] = MCP.exec(tool) ?? [];
  return server === undefined || name === undefined || server === "capstan" ? { name: name ?? tool } : { name, server };
}

/** What the call can do, according to its tool. */
export function traitsOf({ tool, traits, kind }: Request): readonly string[] {
  if (kind !== "tool") return [];
  return [
    ...(traits.readOnly ? ["read-only"] : []),
    ...(traits.edit ? ["changes files"] : []),
    ...(tool === "Bash" ? ["runs programs"] : []),
    ...(tool === "WebFetch" || tool === "WebSearch" ? ["uses the network"] : []),
    ...(toolOf(tool).server === undefined ? [] : ["runs on an MCP server"]),
  ];
}

/** Input fields with a more familiar name. */
const TARGETS: Readonly<Record<string, string>> = {
  file_path: "File",
  notebook_path: "File",
  path: "Directory",
  url: "Address",
};

/** Fields that the change already shows. */
const IN_DIFF = ["content", "old_string", "new_string"];
/** The end of a change that was too long to save in full. */
const CUT = "(cut: the whole change is in the input)";
const MARKER = /\[redacted:[^\]\s]{1,64}\]/;

/** A redacted or truncated change does not show everything that would be written. */
function tellsAll(diff: string | undefined): boolean {
  return diff !== undefined && !MARKER.test(diff) && !diff.trimEnd().endsWith(CUT);
}

/** The target of the call, then all input that is not shown elsewhere: a flag matters as much as a command. */
export function factsOf({ tool, input, diff }: Request): readonly Fact[] {
  const { name, server } = toolOf(tool);
  const said = Object.entries(input).filter(
    ([key]) => !(tool === "Bash" && key === "command") && !(IN_DIFF.includes(key) && tellsAll(diff)),
  );
  const target = said.flatMap(([key, value]): Fact[] => {
    const word = TARGETS[key];
    if (word === undefined || typeof value !== "string") return [];
    return [{ name: word, text: escapeHidden(value) }, ...(key === "url" ? domainOf(value) : [])];
  });
  const rest = said.filter(([key, value]) => TARGETS[key] === undefined || typeof value !== "string");
  return [
    ...(server === undefined ? [] : [{ name: "MCP server", text: escapeHidden(server) }]),
    { name: "Tool", text: escapeHidden(name) },
    ...target,
    ...rest.map(([key, value]) => ({ name: escapeHidden(key), text: valueText(value) })),
  ];
}

/** The host name as the browser parses it, which exposes look-alike names. */
function domainOf(url: string): Fact[] {
  return URL.canParse(url) ? [{ name: "Domain", text: escapeHidden(new URL(url).hostname) }] : [];
}

function valueText(value: unknown): string {
  return escapeHidden(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

/** Each program separately, if that says more than the command itself. */
export function programsOf({ commands = [], input }: Request): readonly string[] {
  const isWhole = commands.length === 1 && commands[0] === input["command"];
  return isWhole ? [] : commands.map(escapeHidden);
}

export type ApprovalOutcome = "pending" | "allowed" | "denied" | "expired" | "ended";

/**
 * The outcome. An approval that has expired stays `pending` in the store until its session notices, but the server no longer
 * lists it. The browser's clock alone does not decide: it may be wrong.
 */
export function outcomeOf(
  { status, answer, expires_at }: WireApproval,
  { isListed, now }: { readonly isListed: boolean; readonly now: number },
): ApprovalOutcome {
  if (answer !== null) return answer.behavior === "allow" ? "allowed" : "denied";
  const isLate = expires_at !== null && Date.parse(expires_at) <= now;
  if (status === "pending") return isLate && !isListed ? "expired" : "pending";
  return isLate ? "expired" : "ended";
}

/** The outcome in words, by kind of approval. */
export function outcomeWord(kind: Request["kind"], outcome: ApprovalOutcome): string {
  switch (outcome) {
    case "pending":
      return "Waiting";
    case "expired":
      return "Expired";
    case "ended":
      return "Closed without an answer";
    case "allowed":
      return { tool: "Allowed", plan: "Approved", question: "Answered", custom_tool: "Result sent" }[kind];
    default:
      return { tool: "Denied", plan: "Sent back", question: "Not answered", custom_tool: "Denied" }[kind];
  }
}

/** Parses an input written as JSON; returns a message if it is wrong. */
export function readInput(text: string): Readonly<Record<string, unknown>> | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    return "The input must be a JSON object: { … }.";
  } catch (thrown) {
    return `This is not valid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}
