import { useMemo, useState } from "react";
import { cx } from "../cx.ts";
import { type DiffLine, type FileDiff, filesOf } from "./diff.ts";

export { diffOf, type FileDiff, filesOf } from "./diff.ts";

const ROWS: Record<DiffLine["kind"], string> = {
  "+": "bg-good-soft",
  "-": "bg-bad-soft",
  " ": "",
  "@": "bg-sunken",
};
const SIGNS: Record<DiffLine["kind"], string> = {
  "+": "text-good",
  "-": "text-bad",
  " ": "text-faint",
  "@": "text-faint",
};

/** The diff of one file. Use `isWhole` for diffs that a person decides about: nothing is hidden beyond the edge. */
export function DiffView({
  file,
  fold = 24,
  isWhole = false,
  note,
  onAll,
}: {
  readonly file: FileDiff;
  /** Lines shown at first. */
  readonly fold?: number;
  /** Wraps long lines and names, and marks a missing newline at the end of a file. */
  readonly isWhole?: boolean;
  /** A note that applies to all lines. */
  readonly note?: string | undefined;
  /** Called to show the rest (default: expands in place). */
  readonly onAll?: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const shown = isOpen ? file.lines : file.lines.slice(0, fold);
  const hidden = file.lines.length - shown.length;
  return (
    <div className="overflow-hidden rounded-md border border-line bg-surface">
      <div className="flex items-center justify-between gap-2 border-b border-line bg-sunken/60 px-3 py-1 text-xs">
        <span dir="ltr" className={cx("font-mono", isWhole ? WRAPPED : "truncate")} title={file.path}>
          {file.path}
        </span>
        {note !== undefined && <span className="ml-auto text-waiting">{note}</span>}
        <Counts added={file.added} removed={file.removed} />
      </div>
      {/* Long lines scroll. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div role="region" aria-label={`Changes in ${file.path}`} tabIndex={0} className="overflow-x-auto">
        <table dir="ltr" className="w-full border-collapse font-mono text-xs leading-5">
          <tbody>
            {shown.map((line, index) => (
              // The lines of a diff keep their order.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={index} className={cx(ROWS[line.kind], isWhole && "align-top")}>
                <td className="w-8 px-1 text-right text-muted select-none">{line.before}</td>
                <td className="w-8 px-1 text-right text-muted select-none">{line.after}</td>
                <td className={cx("w-4 text-center select-none", SIGNS[line.kind])}>
                  {line.kind === "@" ? "⋯" : line.kind}
                </td>
                <td className={cx("pr-3", isWhole ? `${WRAPPED} whitespace-pre-wrap` : "whitespace-pre")}>
                  {line.text}
                  {isWhole && line.isUnended === true && <i className="text-muted select-none"> no newline at end</i>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {onAll !== undefined
        ? hidden > 0 && (
            <FoldButton
              label={`${hidden} more ${hidden === 1 ? "line" : "lines"} not shown: show all`}
              onClick={onAll}
            />
          )
        : file.lines.length > fold && (
            <FoldButton
              label={isOpen ? "Show less" : `Show ${hidden} more ${hidden === 1 ? "line" : "lines"}`}
              onClick={() => setOpen(!isOpen)}
            />
          )}
    </div>
  );
}

const WRAPPED = "[overflow-wrap:anywhere]";

function FoldButton({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="w-full border-t border-line py-1 text-xs font-medium text-accent hover:bg-sunken"
    >
      {label}
    </button>
  );
}

export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span data-figure className="shrink-0 font-mono">
      <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
    </span>
  );
}

/** All files of a patch. */
export function PatchView({ patch }: { readonly patch: string }) {
  const files = useMemo(() => filesOf(patch), [patch]);
  return (
    <div className="flex flex-col gap-2">
      {files.map((file) => (
        <DiffView key={file.path} file={file} />
      ))}
    </div>
  );
}
