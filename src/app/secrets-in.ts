import { markersIn } from "../core/redaction-marker.ts";
import type { Redactor } from "../core/redaction.ts";

/** Tells the secrets in a value, each by what it is; never the secrets themselves. */
export function secretsIn(redactor: Redactor): (value: object) => readonly string[] {
  return (value) => {
    const before = new Set(markersIn(JSON.stringify(value)));
    return markersIn(JSON.stringify(redactor.event(value))).filter((marker) => !before.has(marker));
  };
}
