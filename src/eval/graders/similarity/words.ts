import { createTwoFilesPatch } from "diff";
import type { Count } from "../../../core/suite/grader-schema.ts";

/** Formats findings. */

const SHOWN = 200;
const MAX_COMPARED = 200_000;
const DIFF_LINES = 200;

/** Formats a value on one line, cut to a readable length. */
export function shortJson(value: unknown): string {
  // Undefined has no JSON representation.
  const text = (JSON.stringify(value) as string | undefined) ?? "nothing";
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}… (${text.length} characters)`;
}

/** A unified diff; undefined if both have one line, which a message shows as well, or are too long to compare. */
export function diffOf(expected: string, found: string): string | undefined {
  if (!expected.includes("\n") && !found.includes("\n")) return undefined;
  if (expected.length + found.length > MAX_COMPARED) return undefined;
  const patch = createTwoFilesPatch("expected", "found", expected, found, "", "", { context: 3 });
  const lines = patch.split("\n").slice(1);
  if (lines.length <= DIFF_LINES) return lines.join("\n");
  return [...lines.slice(0, DIFF_LINES), `… (${lines.length - DIFF_LINES} more lines)`].join("\n");
}

export function readableValue(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "nothing");
}

/** `once`, `2 times`. */
export function times(count: number): string {
  if (count === 0) return "never";
  return count === 1 ? "once" : `${count} times`;
}

export function isCountWithin(found: number, count: Count): boolean {
  if (typeof count === "number") return found === count;
  return found >= (count.at_least ?? 0) && found <= (count.at_most ?? Infinity);
}

/** `exactly 2`, `at least 1`, `from 1 to 3`. */
export function countInWords(count: Count): string {
  if (typeof count === "number") return `exactly ${count}`;
  const { at_least: least, at_most: most } = count;
  if (least === undefined) return `at most ${most}`;
  return most === undefined ? `at least ${least}` : `from ${least} to ${most}`;
}
