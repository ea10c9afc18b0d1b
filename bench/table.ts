import type { Row } from "./row.ts";

const HEADINGS = ["case", "measured : against", "N", "median", "against", "result [95 %]", "limit", ""];

export function table(rows: readonly Row[]): string {
  const lines = [HEADINGS, ...rows.map(cells)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const printed = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const rule = "-".repeat(Math.max(...printed.map((line) => line.length)));
  return [printed[0], rule, ...printed.slice(1)].join("\n");
}

function cells({ name, what, samples, medians, result, limit, verdict }: Row): string[] {
  return [name, what, String(samples), ...medians, result, limit, verdict];
}
