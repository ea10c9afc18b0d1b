import { stringify } from "yaml";
import type { Approval } from "../../core/session/approval.ts";
import { hasMarker } from "../../core/redaction/redaction-marker.ts";
import { color, oneLine } from "../terminal/text.ts";
import { wrapText } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** An approval request as shown to a person. Shows exactly what runs: nothing is cut or hidden silently. */
export interface ApprovalBlock {
  readonly text: string;
  /** Lines of the change that were omitted. */
  readonly leftOut: number;
}

interface BlockOptions {
  /** In columns. */
  readonly width: number;
  /** The most lines of a change to show. Default: all. */
  readonly maxLines?: number;
}

export function approvalBlock({ request }: Approval, { width, maxLines = Infinity }: BlockOptions): ApprovalBlock {
  const { tool, agent, commands, diff, input } = request;
  const rows: [string, string][] = [
    ["tool", agent === undefined ? tool : `${tool}, called by the subagent ${agent}`],
    ["asked by", request.asked_by],
    ["reason", request.reason],
    ...(commands ?? []).map((command, index): [string, string] => [index === 0 ? "runs" : "", command]),
  ];
  const lines = [
    ...wrapText(escapeHidden(request.title), width).map((line) => color.bold(line)),
    ...rows.flatMap(([name, text]) => row(name, text, width)),
    ...(request.kind === "tool" || request.kind === "custom_tool"
      ? restOf(input, showsAll(diff), request.title, width)
      : []),
    ...(request.kind === "plan" ? planOf(input, width) : []),
  ];
  const change = diff === undefined ? [] : escapeHidden(diff.trimEnd()).split("\n");
  const shown = change.slice(0, maxLines);
  return { text: [...lines, ...shown.map(inColor)].join("\n"), leftOut: change.length - shown.length };
}

const NAME = 13;

function row(name: string, text: string, width: number): string[] {
  return escapeHidden(text)
    .split("\n")
    .flatMap((line) => wrapText(line, width - NAME - 2))
    .map((line, index) => `  ${color.dim((index === 0 ? oneLine(name, NAME - 1) : "").padEnd(NAME))}${line}`);
}

/** Input fields that the diff already shows. */
const IN_DIFF = ["file_path", "content", "old_string", "new_string"];

/** A redacted or cut diff does not show everything that would be written. */
function showsAll(diff: string | undefined): boolean {
  return diff !== undefined && !hasMarker(diff) && !diff.endsWith(CUT);
}

/** The end of a diff that was too long to save completely. */
const CUT = "(cut: the whole change is in the input)";

/** The input fields that were not shown yet: any of them may matter for the decision. */
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
      .flatMap((line) => wrapText(line, width - 2).map((part) => `  ${part}`)),
    "",
  ];
}

function inColor(line: string): string {
  if (/^(?:\+\+\+|---|@@)/.test(line)) return color.dim(line);
  if (line.startsWith("+")) return color.green(line);
  return line.startsWith("-") ? color.red(line) : line;
}
