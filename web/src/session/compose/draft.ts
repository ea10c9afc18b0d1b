import { useSyncExternalStore } from "react";
import type { Attachment } from "./attachments.ts";

/**
 * What is written for a session and not sent, and what is on its way. It is the same for whoever shows it: a field that
 * was left and is there again knows what became of it.
 */
export interface Draft {
  readonly text: string;
  readonly attached: readonly Attachment[];
  /** Files that are being read: the message is not without them. */
  readonly reading: number;
  /** What was sent, and is not taken yet. */
  readonly sending?: { readonly text: string; readonly attached: readonly Attachment[] } | undefined;
}

const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

function draftOf(sessionId: string): Draft {
  const known = drafts.get(sessionId) ?? { text: stored(sessionId), attached: [], reading: 0 };
  drafts.set(sessionId, known);
  return known;
}

export function useDraft(sessionId: string): Draft {
  return useSyncExternalStore(subscribe, () => draftOf(sessionId));
}

export function changeDraft(sessionId: string, change: (before: Draft) => Partial<Draft>): void {
  const before = draftOf(sessionId);
  const draft = { ...before, ...change(before) };
  drafts.set(sessionId, draft);
  // What is on its way may not arrive.
  store(sessionId, inOrder(draft.sending?.text ?? "", draft.text));
  for (const tell of listeners) tell();
}

/** One text of what was written first, and since. */
export function inOrder(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The text is still there after a reload, and goes with the tab. Files are too large for that. */
const nameOf = (sessionId: string): string => `capstan.draft.${sessionId}`;

function stored(sessionId: string): string {
  try {
    return sessionStorage.getItem(nameOf(sessionId)) ?? "";
  } catch {
    // Without storage nothing is kept.
    return "";
  }
}

function store(sessionId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(nameOf(sessionId));
    else sessionStorage.setItem(nameOf(sessionId), text);
  } catch {
    // Full, or not allowed: the text is on the page all the same.
  }
}
