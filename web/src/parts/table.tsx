import type { ReactNode } from "react";
import { cx } from "./cx.ts";

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned. */
  readonly figure?: boolean;
  /** Hidden on phones. */
  readonly minor?: boolean;
  /** Gets the width that the others leave on phones; its text is truncated. */
  readonly flexible?: boolean;
}

/** A table that scrolls sideways instead of widening the page. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  empty = "Nothing yet.",
}: {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  readonly empty?: ReactNode;
}) {
  const look = (column: Column<Row>): string =>
    cx(
      "px-3 py-2 max-sm:px-2",
      column.figure === true ? "text-right" : "text-left",
      column.minor === true && "max-sm:hidden",
      column.flexible === true && "max-sm:w-full max-sm:max-w-36",
    );
  return (
    // Scrollable, so it must be reachable by keyboard. Its visually hidden texts must scroll with it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div
      role="region"
      aria-label={caption}
      tabIndex={0}
      className="relative overflow-x-auto rounded-lg border border-line bg-surface"
    >
      <table className="w-full text-sm">
        <caption className="sr-only">{caption}</caption>
        <thead className="border-b border-line text-xs text-faint">
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" className={cx(look(column), "font-medium")}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={rowKey(row)} className="hover:bg-sunken/60">
              {columns.map((column) => (
                <td key={column.title} className={look(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={columns.length} className="px-3 py-6 text-center text-muted">
                {empty}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
