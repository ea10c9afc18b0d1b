import type { CopyProgress } from "../core/ports/workspace.ts";

/** In milliseconds: people cannot read faster. */
const INTERVAL_MS = 100;

/** Reports a copy's progress: not with every file, but always at its end. */
export function progressReport(
  tell: ((progress: CopyProgress) => void) | undefined,
  totals: Pick<CopyProgress, "totalFiles" | "totalBytes">,
): { readonly bytes: (count: number) => void; readonly file: () => void; readonly end: () => void } {
  let files = 0;
  let bytes = 0;
  let told = performance.now();
  const end = (): void => {
    told = performance.now();
    // A file that changed meanwhile is read twice.
    tell?.({ ...totals, files, bytes: Math.min(bytes, totals.totalBytes) });
  };
  const perhaps = (): void => {
    if (performance.now() - told >= INTERVAL_MS) end();
  };
  return {
    bytes(count) {
      bytes += count;
      perhaps();
    },
    file() {
      files++;
      perhaps();
    },
    end,
  };
}
