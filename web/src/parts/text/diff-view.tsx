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

/** A change of one file, line by line. What somebody decides about is shown with `isWhole`: nothing of it hides. */
export function DiffView({
  file,
  fold = 24,
  isWhole = false,
  note,
  onAll,
}: {
  readonly file: FileDiff;
  /** How many lines are shown at first. */
  readonly fold?: number;
  /** Breaks long lines and names, so that nothing is beyond the edge, and tells where a file has no line end. */
  readonly isWhole?: boolean;
  /** What holds for all lines. */
  readonly note?: string | undefined;
  /** Asks whoever shows it for the rest; without it the rest is unfolded here. */
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
      {/* Long lines scroll inside. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div role="region" aria-label={`Changes in ${file.path}`} tabIndex={0} className="overflow-x-auto">
        <table dir="ltr" className="w-full border-collapse font-mono text-xs leading-5">
          <tbody>
            {shown.map((line, index) => (
              // The lines of one diff never move.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={index} className={cx(ROWS[line.kind], isWhole && "align-top")}>
                <td className="w-8 px-1 text-right text-muted select-none">{line.before}</td>
                <td className="w-8 px-1 text-right text-muted select-none">{line.after}</td>
                <td className={cx("w-4 text-center select-none", SIGNS[line.kind])}>
                  {line.kind === "@" ? "⋯" : line.kind}
                </td>
                <td className={cx("pr-3", isWhole ? `${WRAPPED} whitespace-pre-wrap` : "whitespace-pre")}>
                  {line.text}
                  {isWhole && line.isUnended === true && <i className="text-muted select-none"> no line end</i>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {onAll !== undefined
        ? hidden > 0 && (
            <FoldButton
              label={`${hidden} more ${hidden === 1 ? "line is" : "lines are"} not shown: show all`}
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
