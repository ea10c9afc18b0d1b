import { stringify } from "yaml";
import type { Approval } from "../../core/session/approval.ts";
import { hasMarker } from "../../core/redaction/redaction-marker.ts";
import { colour, oneLine } from "../terminal/text.ts";
import { wrapped } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** An approval as a person decides about it. What runs is shown whole and as it is: nothing is cut or hidden silently. */
export interface Block {
  readonly text: string;
  /** Lines of the change that were left out. */
  readonly leftOut: number;
}

interface BlockOptions {
  /** In columns. */
  readonly width: number;
  /** Lines of a change that are shown. Default: all. */
  readonly maxLines?: number;
}

export function approvalBlock({ request }: Approval, { width, maxLines = Infinity }: BlockOptions): Block {
  const { tool, agent, commands, diff, input } = request;
  const rows: [string, string][] = [
    ["tool", agent === undefined ? tool : `${tool}, called by the subagent ${agent}`],
    ["asked by", request.asked_by],
    ["because", request.reason],
    ...(commands ?? []).map((command, index): [string, string] => [index === 0 ? "runs" : "", command]),
  ];
  const lines = [
    ...wrapped(escapeHidden(request.title), width).map((line) => colour.bold(line)),
    ...rows.flatMap(([name, text]) => row(name, text, width)),
    ...(request.kind === "tool" || request.kind === "custom_tool"
      ? restOf(input, tellsAll(diff), request.title, width)
      : []),
    ...(request.kind === "plan" ? planOf(input, width) : []),
  ];
  const change = diff === undefined ? [] : escapeHidden(diff.trimEnd()).split("\n");
  const shown = change.slice(0, maxLines);
  return { text: [...lines, ...shown.map(inColour)].join("\n"), leftOut: change.length - shown.length };
}

const NAME = 13;

function row(name: string, text: string, width: number): string[] {
  return escapeHidden(text)
    .split("\n")
    .flatMap((line) => wrapped(line, width - NAME - 2))
    .map((line, index) => `  ${colour.dim((index === 0 ? oneLine(name, NAME - 1) : "").padEnd(NAME))}${line}`);
}

/** What a change shows of the input, so that it need not be said again. */
const IN_DIFF = ["file_path", "content", "old_string", "new_string"];

/** A change without its secrets, or one that was cut, does not show what would be written. */
function tellsAll(diff: string | undefined): boolean {
  return diff !== undefined && !hasMarker(diff) && !diff.endsWith(CUT);
}

/** How a change ends that was too long to be stored whole. */
const CUT = "(cut: the whole change is in the input)";

/** Everything of the input that was not shown yet: a flag of a command can matter as much as the command. */
function restOf(input: Approval["request"]["input"], isInDiff: boolean, title: string, width: number): string[] {
  const rest = Object.entries(input).filter(([key, value]) => {
    if (isInDiff && IN_DIFF.includes(key)) return false;
    return !(key === "command" && `Run ${String(value)}` === title);
  });
  return rest.flatMap(([key, value]) =>
    row(key, typeof value === "string" ? value : stringify(value).trimEnd(), width),
  );
}

function planOf(input: Approval["request"]["input"], width: number): string[] {
  const plan = input["plan"];
  if (typeof plan !== "string") return [];
  return [
    "",
    ...escapeHidden(plan.trimEnd())
      .split("\n")
      .flatMap((line) => wrapped(line, width - 2).map((part) => `  ${part}`)),
    "",
  ];
}

function inColour(line: string): string {
  if (/^(?:\+\+\+|---|@@)/.test(line)) return colour.dim(line);
  if (line.startsWith("+")) return colour.green(line);
  return line.startsWith("-") ? colour.red(line) : line;
}
