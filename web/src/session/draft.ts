/** What is written and not sent is still there after a look at another page, or a reload. It goes with the tab. */

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
