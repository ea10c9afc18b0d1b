import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { hiddenValues, isRemote, withHiddenValues } from "../../core/agent/mcp-server-schema.ts";
import type { Secret } from "../../core/redaction/redaction.ts";
import { isSecretVariable } from "../../core/redaction/redaction-patterns.ts";
import { type LookUp, referencesIn, resolveReferences } from "../../core/agent/references.ts";
import type { SessionRecord } from "../../core/ports/store.ts";

/** A session's definitions with the host's variables put in. Never stored. */
export interface WithHostVariables {
  readonly servers: AgentDefinition["mcp_servers"];
  readonly variables: Readonly<Record<string, string>>;
  /** Values that the log must not contain. */
  readonly secrets: readonly Secret[];
}

type Texts = Readonly<Record<string, string>>;

/** Variables whose values are no secret: they are in every path and prompt. Any other one may be a secret. */
const ORDINARY =
  /^(?:HOME|USER|LOGNAME|PATH|PWD|SHELL|HOSTNAME|LANG|LANGUAGE|LC_[A-Z]+|TERM|TZ|TMPDIR|NODE_ENV|XDG_[A-Z_]+)$/;

/** Throws an error that lists every reference to an unknown variable. */
export function withHostVariables(
  { agent, environment }: Pick<SessionRecord, "agent" | "environment">,
  lookUp: LookUp,
): WithHostVariables {
  const problems: string[] = [];
  const secrets: Secret[] = [];
  const resolveTexts = (texts: Texts, field: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(texts).map(([key, text]) => {
        try {
          const value = resolveReferences(text, lookUp);
          secrets.push(...secretsIn({ key, text, value }, lookUp));
          return [key, value];
        } catch (thrown) {
          problems.push(`${field}.${key}: ${messageOf(thrown)}`);
          return [key, text];
        }
      }),
    );
  const servers = Object.entries(agent.mcp_servers ?? {}).map(([name, server]) => {
    const field = `mcp_servers.${name}.${isRemote(server) ? "headers" : "env"}`;
    const values = resolveTexts(hiddenValues(server), field);
    if (isRemote(server)) problems.push(...unsendable(values, field));
    return [name, withHiddenValues(server, values)] as const;
  });
  const variables = resolveTexts(environment.variables, "environment.variables");
  if (problems.length > 0) throw new CapstanError("invalid_input", problems.join("\n"), { data: { problems } });
  return { servers: agent.mcp_servers && Object.fromEntries(servers), variables, secrets };
}

function secretsIn(
  { key, text, value }: { readonly key: string; readonly text: string; readonly value: string },
  lookUp: LookUp,
): Secret[] {
  const referred = referencesIn(text).filter((name) => !ORDINARY.test(name));
  const known = referred.flatMap((name) => {
    const found = lookUp(name);
    return found === undefined ? [] : [{ name, value: found }];
  });
  if (!isSecretVariable(key)) return known;
  // The secret itself follows `Bearer` or the like.
  return [...known, { name: key, value }, { name: key, value: value.replace(/^\w+ +/, "") }];
}

/** Sending such a header would fail with an error that repeats its value, including the secret. */
function unsendable(headers: Texts, field: string): string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
      ? []
      : [`${field}.${name}: a header has one line of letters, digits and signs; its value has other characters`],
  );
}
