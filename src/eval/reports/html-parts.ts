import { type Html, markup } from "./html-text.ts";
import { STATUS_WORDS } from "../../core/suite/suite-run-words.ts";
import type { CaseStatus } from "../../core/suite/suite-run-summary.ts";

/** Shared parts of the page. */

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

/** The kind of a diff line; its first character shows it without color. */
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
  // A scrollable block must be reachable by keyboard.
  const shown = lines.map((line) => markup`<span class="${lineKind(line)}">${line}\n</span>`);
  return markup`<pre class="diff" tabindex="0" role="region" aria-label="${label}">${shown}</pre>`;
}

export function textSection(text: string, label: string): Html {
  return markup`<pre tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}

/** The attribute of an open element. */
export const OPEN = markup` open`;

/** A collapsible section. */
export function fold(title: Html | string, body: Html, { open = false }: { readonly open?: boolean } = {}): Html {
  return markup`<details class="fold"${open ? OPEN : undefined}>
    <summary>${title}</summary>
    <div class="inside">${body}</div>
  </details>`;
}

/** A list with a heading; empty if there are no items. */
export function listSection(heading: Html, kind: "gates" | "verdicts", items: readonly Html[]): Html | undefined {
  return items.length === 0 ? undefined : markup`${heading}<ul class="${kind}">${items}</ul>`;
}
