import pc from "picocolors";

/** Colours only on a terminal, and never against NO_COLOR; picocolors knows both. */
export const colour = pc;

/** A terminal without a size says 0. */
export function columns(stream: NodeJS.WriteStream = process.stdout): number {
  return Math.min(stream.columns || 80, 120);
}

/** One line of at most `width` characters; line breaks become spaces. */
export function oneLine(text: string, width: number): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  return flat.length <= width ? flat : `${flat.slice(0, Math.max(0, width - 1))}…`;
}

export function money(usd: number): string {
  if (usd === 0) return "$0";
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`;
  return `${Math.floor(ms / 60_000)}m${String(Math.round((ms % 60_000) / 1_000)).padStart(2, "0")}s`;
}

export function count(value: number): string {
  return value.toLocaleString("en-US");
}

/** How long ago, in the one unit that says most. */
export function ago(ms: number): string {
  const units: [string, number][] = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
  ];
  const [unit, size] = units.find(([, length]) => ms >= length) ?? ["s", 1_000];
  return `${Math.max(0, Math.floor(ms / size))}${unit} ago`;
}

/** The end of an id is what tells sessions apart; every command takes it in place of the whole. */
export function shortId(sessionId: string): string {
  return sessionId.slice(-8);
}

/** Rows under headings; the last column takes what is left of the line. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...rows.map((row) => row[index]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string => {
    const cells = row.slice(0, -1).map((cell, index) => cell.padEnd(widths[index] ?? 0));
    const used = cells.reduce((sum, cell) => sum + cell.length + 2, 0);
    return [...cells, oneLine(row.at(-1) ?? "", Math.max(12, columns() - used))].join("  ").trimEnd();
  };
  return [colour.dim(line(headings)), ...rows.map(line)].join("\n");
}
