import { useSyncExternalStore } from "react";
import type { Attachment } from "./attachments.ts";

/**
 * The unsent text of a session and the message being sent. It outlives the field, which can be unmounted and mounted again.
 */
export interface Draft {
  readonly text: string;
  readonly attached: readonly Attachment[];
  /** Files being read: the message waits for them. */
  readonly reading: number;
  /** Sent, but not yet accepted. */
  readonly sending?: { readonly text: string; readonly attached: readonly Attachment[] } | undefined;
}

const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

function draftOf(sessionId: string): Draft {
  const known = drafts.get(sessionId) ?? { text: readStored(sessionId), attached: [], reading: 0 };
  drafts.set(sessionId, known);
  return known;
}

export function useMessageDraft(sessionId: string): Draft {
  return useSyncExternalStore(subscribe, () => draftOf(sessionId));
}

export function changeDraft(sessionId: string, change: (before: Draft) => Partial<Draft>): void {
  const before = draftOf(sessionId);
  const draft = { ...before, ...change(before) };
  drafts.set(sessionId, draft);
  // A message being sent may not arrive, so it is saved too.
  store(sessionId, inOrder(draft.sending?.text ?? "", draft.text));
  for (const tell of listeners) tell();
}

/** Joins the earlier and the later text. */
export function inOrder(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The text survives a reload and is lost with the tab. Files are too large to keep. */
const nameOf = (sessionId: string): string => `capstan.draft.${sessionId}`;

function readStored(sessionId: string): string {
  try {
    return sessionStorage.getItem(nameOf(sessionId)) ?? "";
  } catch {
    // Without storage nothing is saved.
    return "";
  }
}

function store(sessionId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(nameOf(sessionId));
    else sessionStorage.setItem(nameOf(sessionId), text);
  } catch {
    // Storage is full or not allowed; the text is still on the page.
  }
}
