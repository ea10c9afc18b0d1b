import { color } from "../../terminal/text.ts";
import { editorLines, type CursorLines } from "../editor/editor-view.ts";

/** The parts of the live region below the finished lines. */
export interface LiveParts {
  /** The end of the streaming message. */
  readonly tail: readonly string[];
  /** Running tool calls. */
  readonly calls: readonly string[];
  /** Queued messages. */
  readonly queued: readonly string[];
  /** Hints for the current input. */
  readonly hints: readonly string[];
  readonly editor: { readonly text: string; readonly cursor: number };
  readonly status: string;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Most rows for running calls and queued messages. */
const MAX_CALLS = 8;
const MAX_QUEUED = 3;

/** Stacks the parts to fit the terminal. The input has priority; the streaming text gets the remaining rows. */
export function liveRegion(parts: LiveParts, { width, height }: Size): CursorLines {
  const editor = editorLines(parts.editor, { width, height: Math.max(1, Math.floor(height / 3)) });
  // Leaves one row for the last finished line.
  let room = Math.max(1, height - 1) - editor.lines.length;
  const take = (lines: readonly string[], most = Infinity): readonly string[] => {
    const taken = room <= 0 ? [] : lines.slice(-Math.min(room, most));
    room -= taken.length;
    return taken;
  };
  const status = take([parts.status]);
  const hints = take(parts.hints.slice(0, Math.max(0, room)));
  const rule = take(height < 8 ? [] : [...(height < 14 ? [] : [""]), color.dim("─".repeat(Math.max(1, width - 1)))]);
  const queued = take(shorten(parts.queued, MAX_QUEUED));
  const calls = take(shorten(parts.calls, MAX_CALLS));
  const tail = take(parts.tail);
  const above = [...tail, ...calls, ...queued, ...rule];
  return {
    lines: [...above, ...editor.lines, ...hints, ...status],
    row: above.length + editor.row,
    column: editor.column,
  };
}

function shorten(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const more = lines.length - most + 1;
  return [...lines.slice(0, most - 1), color.dim(`  … ${more} more`)];
}
