import { markersIn } from "../core/redaction-marker.ts";
import type { Redactor } from "../core/redaction.ts";

/** Tells the secrets in a value, each by what it is; never the secrets themselves. */
export function secretsIn(redactor: Redactor): (value: object) => readonly string[] {
  return (value) => {
    const before = JSON.stringify(value);
    const after = JSON.stringify(redactor.event(value));
    // A marker that stands there already says nothing about the others of its name.
    return before === after ? [] : added(markersIn(before), markersIn(after));
  };
}

function added(before: readonly string[], after: readonly string[]): readonly string[] {
  const left = [...before];
  const found = after.filter((marker) => {
    const at = left.indexOf(marker);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return found.length > 0 ? found : ["a secret"];
}
