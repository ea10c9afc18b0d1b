import { markersIn } from "../../core/redaction/redaction-marker.ts";
import { type Redactor, secretVariables } from "../../core/redaction/redaction.ts";
import { secretSource } from "../../gateway/credentials/secret-source.ts";
import { hostParts } from "../host/host-parts.ts";
import type { HostOptions } from "../open-host.ts";

/** Names the secrets in a value, never the secrets themselves. */
export type SecretsIn = (value: object) => readonly string[];

export function secretsIn(redactor: Redactor): SecretsIn {
  return (value) => {
    const before = JSON.stringify(value);
    const after = JSON.stringify(redactor.event(value));
    // An existing marker says nothing about other secrets of the same name.
    return before === after ? [] : addedMarkers(markersIn(before), markersIn(after));
  };
}

/** The same for everything that a host would redact, and for values read only when the model is called. */
export async function secretsOfHost(
  options: HostOptions,
  variables: Readonly<Record<string, string>>,
): Promise<SecretsIn> {
  const { redactor, credentials } = hostParts(options);
  const { stored, onSecret } = credentials;
  // An unreadable secret is an error: unknown values cannot be found.
  for (const provider of stored?.providers ?? [])
    await secretSource(provider, { environment: {}, stored, onSecret })?.read();
  return secretsIn(redactor.with(secretVariables(variables)));
}

function addedMarkers(before: readonly string[], after: readonly string[]): readonly string[] {
  const left = [...before];
  const found = after.filter((marker) => {
    const at = left.indexOf(marker);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return found.length > 0 ? found : ["a secret"];
}
