import { CapstanError } from "../errors.ts";

/**
 * `${NAME}` is replaced with a variable of the host, `${NAME:-words}` with the words if it is empty or not set, `$${`
 * with `${`.
 */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-((?:(?!\$\{)[^}])*))?\}|\$\{/g;

export type LookUp = (name: string) => string | undefined;

/** The names that a text refers to, once each. */
export function referencesIn(text: string): string[] {
  return [...new Set([...text.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []))];
}

/** The text with its variables filled in. Throws if one is not set, or for a `${` without a valid reference. */
export function resolveReferences(text: string, lookUp: LookUp): string {
  return text.replaceAll(REFERENCE, (found, name: string | undefined, otherwise: string | undefined) => {
    if (found === "$${") return "${";
    if (name === undefined)
      throw new CapstanError("invalid_input", "expected ${NAME} or ${NAME:-words}; write $${ for a plain ${");
    const value = lookUp(name);
    if (otherwise !== undefined) return value || otherwise;
    if (value !== undefined) return value;
    throw new CapstanError(
      "invalid_input",
      `the variable ${name} is not set; set it in the shell or in .env, or write \${${name}:-words}`,
      { data: { name } },
    );
  });
}
