import type { Attachment } from "./attachments.ts";

/** What is written and not sent is still there after a look at another page, or a reload. It goes with the tab. */

const attached = new Map<string, readonly Attachment[]>();

/** Files are too large for what a reload leaves. */
export function attachedTo(sessionId: string): readonly Attachment[] {
  return attached.get(sessionId) ?? [];
}

export function keepAttached(sessionId: string, attachments: readonly Attachment[]): readonly Attachment[] {
  if (attachments.length === 0) attached.delete(sessionId);
  else attached.set(sessionId, attachments);
  return attachments;
}

const nameOf = (sessionId: string): string => `capstan.draft.${sessionId}`;

export function draftOf(sessionId: string): string {
  try {
    return sessionStorage.getItem(nameOf(sessionId)) ?? "";
  } catch {
    // Without storage nothing is kept.
    return "";
  }
}

export function keepDraft(sessionId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(nameOf(sessionId));
    else sessionStorage.setItem(nameOf(sessionId), text);
  } catch {
    // Full, or not allowed: the text is on the page all the same.
  }
}
