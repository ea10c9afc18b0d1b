import { type Html, markup } from "./html-text.ts";
import { STATUS_WORDS } from "../../core/suite/suite-run-words.ts";
import type { CaseStatus } from "../../core/suite/suite-run-summary.ts";

/** What several parts of the page share. */

const SIGNS: Readonly<Record<CaseStatus, string>> = {
  passed: "✓",
  failed: "✕",
  error: "!",
  not_run: "–",
  skipped: "↷",
};

export function badge(status: CaseStatus): Html {
  return markup`<span class="badge ${status}"><span aria-hidden="true">${SIGNS[status]}</span> ${STATUS_WORDS[status]}</span>`;
}

/** A word for each line of a diff: what it is can be told without its colour by its first character. */
function lineKind(line: string): string {
  if (
    line.startsWith("+++") ||
    line.startsWith("---") ||
    /^(?:diff|index|new file|deleted file|Index:|=====)/.test(line)
  )
    return "file";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

export function diffBlock(diff: string, label: string): Html {
  const lines = diff.trimEnd().split("\n");
  // A block that can be scrolled must be reached by keyboard.
  const shown = lines.map((line) => markup`<span class="${lineKind(line)}">${line}\n</span>`);
  return markup`<pre class="diff" tabindex="0" role="region" aria-label="${label}">${shown}</pre>`;
}

export function textBlock(text: string, label: string): Html {
  return markup`<pre tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}

/** The attribute of what stands open. */
export const OPEN = markup` open`;

/** Something that can be opened. */
export function fold(title: Html | string, body: Html, { open = false }: { readonly open?: boolean } = {}): Html {
  return markup`<details class="fold"${open ? OPEN : undefined}>
    <summary>${title}</summary>
    <div class="inside">${body}</div>
  </details>`;
}

/** A list under a heading; nothing when it is empty. */
export function listed(heading: Html, kind: "gates" | "verdicts", items: readonly Html[]): Html | undefined {
  return items.length === 0 ? undefined : markup`${heading}<ul class="${kind}">${items}</ul>`;
}
