import { safePath } from "../../../process/programs.ts";
import { bwrapPath } from "../../../sandbox/bwrap-path.ts";
import { keepingOutput } from "../results/failed-output.ts";
import { quoteWord } from "./command-shell.ts";
import type { ProcessFiles } from "./process-files.ts";

/** Where the CLI looks for programs such as git and bubblewrap. */
export function cliPath(
  searched: string,
  { cwd, bwrap, files }: { readonly cwd: string; readonly bwrap: string | undefined; readonly files: ProcessFiles },
): string {
  const path = safePath(searched, { outside: cwd });
  if (bwrap === undefined) return path;
  const running = keepingOutput(quoteWord(bwrap), { directory: quoteWord(files.outputs), path: quoteWord(path) });
  return `${bwrapPath(files.directory, { running })}:${path}`;
}
