import type { WireApproval } from "../../../../src/client/index.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";

type Request = WireApproval["request"];

/** What an approval is about, in words. Nothing of the input is left out silently. */

export interface Fact {
  readonly name: string;
  readonly text: string;
}

const MCP = /^mcp__(.+?)__(.+)$/;

/** Which tool of which server; a tool of Capstan's own has none. */
export function toolOf(tool: string): { readonly name: string; readonly server?: string } {
  const [, server, name] = MCP.exec(tool) ?? [];
  return server === undefined || name === undefined || server === "capstan" ? { name: name ?? tool } : { name, server };
}

/** What the call can do, as far as its tool says. */
export function traitsOf({ tool, traits, kind }: Request): readonly string[] {
  if (kind !== "tool") return [];
  return [
    ...(traits.readOnly ? ["only reads"] : []),
    ...(traits.edit ? ["changes files"] : []),
    ...(tool === "Bash" ? ["runs programs"] : []),
    ...(tool === "WebFetch" || tool === "WebSearch" ? ["reaches the network"] : []),
    ...(toolOf(tool).server === undefined ? [] : ["runs at an MCP server"]),
  ];
}

/** Names of the input that people know by another word. */
const TARGETS: Readonly<Record<string, string>> = {
  file_path: "File",
  notebook_path: "File",
  path: "Directory",
  url: "Address",
};

/** What the change shows already. */
const IN_DIFF = ["content", "old_string", "new_string"];
/** How a change ends that was too long to be stored whole. */
const CUT = "(cut: the whole change is in the input)";
const MARKER = /\[redacted:[^\]\s]{1,64}\]/;

/** A change without its secrets, or one that was cut, does not show what would be written. */
function tellsAll(diff: string | undefined): boolean {
  return diff !== undefined && !MARKER.test(diff) && !diff.trimEnd().endsWith(CUT);
}

/** What the call is aimed at, then everything of the input that is not shown elsewhere: a flag matters as much as a command. */
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
    ...rest.map(([key, value]) => ({ name: escapeHidden(key), text: written(value) })),
  ];
}

/** As the browser reads it, so that a name that only looks like another is told apart. */
function domainOf(url: string): Fact[] {
  return URL.canParse(url) ? [{ name: "Domain", text: escapeHidden(new URL(url).hostname) }] : [];
}

function written(value: unknown): string {
  return escapeHidden(typeof value === "string" ? value : JSON.stringify(value, undefined, 2));
}

/** Each program on its own, where that says more than the command itself. */
export function programsOf({ commands = [], input }: Request): readonly string[] {
  const isWhole = commands.length === 1 && commands[0] === input["command"];
  return isWhole ? [] : commands.map(escapeHidden);
}

export type Outcome = "pending" | "allowed" | "denied" | "expired" | "ended";

/**
 * What became of it. One that has run out of time stays `pending` in the store until its session notices, but is not
 * among those that can be answered any more. The browser's clock alone does not decide: it may be wrong.
 */
export function outcomeOf(
  { status, answer, expires_at }: WireApproval,
  { isListed, now }: { readonly isListed: boolean; readonly now: number },
): Outcome {
  if (answer !== null) return answer.behavior === "allow" ? "allowed" : "denied";
  const isLate = expires_at !== null && Date.parse(expires_at) <= now;
  if (status === "pending") return isLate && !isListed ? "expired" : "pending";
  return isLate ? "expired" : "ended";
}

/** What was done with a thing of this kind. */
export function outcomeWord(kind: Request["kind"], outcome: Outcome): string {
  switch (outcome) {
    case "pending":
      return "Waiting";
    case "expired":
      return "Expired";
    case "ended":
      return "Ended without an answer";
    case "allowed":
      return { tool: "Allowed", plan: "Approved", question: "Answered", custom_tool: "Result given" }[kind];
    default:
      return { tool: "Denied", plan: "Sent back", question: "Not answered", custom_tool: "Denied" }[kind];
  }
}

/** An input as somebody wrote it in JSON; a text says what is wrong with it. */
export function readInput(text: string): Readonly<Record<string, unknown>> | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    return "The input must be an object: { … }.";
  } catch (thrown) {
    return `This is no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}
