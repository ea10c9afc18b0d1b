import { parsePatch, structuredPatch } from "diff";

export interface DiffLine {
  readonly kind: "+" | "-" | " " | "@";
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
  /** The last line of a file without a newline at its end. */
  readonly isUnended?: boolean;
}

export interface FileDiff {
  readonly path: string;
  readonly lines: readonly DiffLine[];
  readonly added: number;
  readonly removed: number;
}

/** Parses a unified diff or a patch of several files. Other text gives no files. */
export function filesOf(patch: string): FileDiff[] {
  try {
    return parsePatch(patch)
      .map(({ oldFileName, newFileName, hunks }) =>
        toFile(nameOf(newFileName === "/dev/null" ? oldFileName : newFileName), hunks),
      )
      .filter(({ path, lines }) => lines.length > 0 || path !== "");
  } catch {
    return [];
  }
}

/** The diff between two texts. */
export function diffOf(path: string, before: string, after: string): FileDiff {
  return toFile(path, structuredPatch(path, path, before, after, "", "", { context: 3 }).hunks);
}

function nameOf(name: string | undefined): string {
  return (name ?? "").replace(/^[ab]\//, "");
}

type Hunks = ReturnType<typeof structuredPatch>["hunks"];

function toFile(path: string, hunks: Hunks): FileDiff {
  const lines = hunks.flatMap(({ oldStart, newStart, lines: given }, index): DiffLine[] => {
    let before = oldStart;
    let after = newStart;
    const shown = given.flatMap((line, at): DiffLine[] => {
      if (line.startsWith("\\")) return [];
      const text = line.slice(1);
      const end = given[at + 1]?.startsWith("\\") === true ? { isUnended: true } : {};
      if (line.startsWith("+")) return [{ kind: "+", text, after: after++, ...end }];
      if (line.startsWith("-")) return [{ kind: "-", text, before: before++, ...end }];
      return [{ kind: " ", text, before: before++, after: after++, ...end }];
    });
    return index === 0 ? shown : [{ kind: "@", text: "" }, ...shown];
  });
  const count = (kind: DiffLine["kind"]): number => lines.filter((line) => line.kind === kind).length;
  return { path, lines, added: count("+"), removed: count("-") };
}
