import { colour } from "../../terminal/text.ts";
import { editorLines, type Placed } from "../editor/editor-view.ts";

/** What stands below the finished lines and is drawn again and again. */
export interface LiveParts {
  /** The end of what the model is saying. */
  readonly tail: readonly string[];
  /** Tool calls that run. */
  readonly calls: readonly string[];
  /** Messages that wait for the model. */
  readonly queued: readonly string[];
  /** What can be typed or pressed just now. */
  readonly hints: readonly string[];
  readonly editor: { readonly text: string; readonly cursor: number };
  readonly status: string;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Rows that the running calls and the queue may take. */
const MAX_CALLS = 8;
const MAX_QUEUED = 3;

/** Puts the parts under each other so that they fit the terminal: the input comes first, what streams takes what is left. */
export function liveRegion(parts: LiveParts, { width, height }: Size): Placed {
  const editor = editorLines(parts.editor, { width, height: Math.max(1, Math.floor(height / 3)) });
  // One row stays for what was finished last.
  let room = Math.max(1, height - 1) - editor.lines.length;
  const take = (lines: readonly string[], most = Infinity): readonly string[] => {
    const taken = room <= 0 ? [] : lines.slice(-Math.min(room, most));
    room -= taken.length;
    return taken;
  };
  const status = take([parts.status]);
  const hints = take(parts.hints.slice(0, Math.max(0, room)));
  const rule = take(height < 8 ? [] : [...(height < 14 ? [] : [""]), colour.dim("─".repeat(Math.max(1, width - 1)))]);
  const queued = take(shortened(parts.queued, MAX_QUEUED));
  const calls = take(shortened(parts.calls, MAX_CALLS));
  const tail = take(parts.tail);
  const above = [...tail, ...calls, ...queued, ...rule];
  return {
    lines: [...above, ...editor.lines, ...hints, ...status],
    row: above.length + editor.row,
    column: editor.column,
  };
}

function shortened(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const more = lines.length - most + 1;
  return [...lines.slice(0, most - 1), colour.dim(`  … ${more} more`)];
}
