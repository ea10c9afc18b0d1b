/** The markers that replace secrets in a log, and how to compare a redacted text with its original. */

const NAME = /[^\]\s]{1,64}/;
const MARKER = new RegExp(String.raw`\[redacted:${NAME.source}\]`);
const ALL_MARKERS = new RegExp(MARKER.source, "g");

export function marker(name: string): string {
  return `[redacted:${name}]`;
}

export function hasMarker(text: string): boolean {
  return MARKER.test(text);
}

/** The text between the markers, in order; one more than there are markers. */
export function betweenMarkers(text: string): string[] {
  return text.split(ALL_MARKERS);
}

/** The markers of a text, in order. */
export function markersIn(text: string): string[] {
  return text.match(ALL_MARKERS) ?? [];
}

/**
 * Whether `redacted` may come from `text`: every marker replaces some text, and everything else is the same. It does
 * not matter which secrets were known when, so that a log stays comparable when patterns change.
 */
export function mayStandFor(redacted: string, text: string): boolean {
  if (redacted === text) return true;
  const pieces = betweenMarkers(redacted);
  const first = pieces.shift() ?? "";
  const last = pieces.pop();
  if (last === undefined || !text.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
