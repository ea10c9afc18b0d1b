import { lstatSync, realpathSync } from "node:fs";
import type { ToolContent } from "../../../core/events/content.ts";
import { isInside } from "../../../core/paths/is-inside.ts";

const SAVED = /^<persisted-output>\n[^\n]*Full output saved to: ([^\n]+)\n/;

/**
 * The file where the CLI saved a result that is too long for the model, which gets a preview and this path. A tool can
 * print the same text, so only a regular file in the CLI's results directory is accepted.
 */
export function persistedOutput(content: ToolContent, directory: string): string | undefined {
  const [block] = content;
  const [, path] = (block?.type === "text" ? SAVED.exec(block.text) : undefined) ?? [];
  if (path === undefined) return undefined;
  try {
    if (!lstatSync(path).isFile()) return undefined;
    const real = realpathSync(path);
    return isInside(real, realpathSync(directory)) ? real : undefined;
  } catch {
    return undefined;
  }
}
