import { CapstanError } from "../errors.ts";

/** `${NAME}` stands for a variable of the host, `${NAME:-words}` for words when it is empty or not set, `$${` for `${`. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_]\w*)(?::-((?:(?!\$\{)[^}])*))?\}|\$\{/g;

export type LookUp = (name: string) => string | undefined;

/** The names that a text refers to, once each. */
export function referencesIn(text: string): string[] {
  return [...new Set([...text.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []))];
}

/** The text with its variables put in. Throws when one is not set, and when a `${` begins nothing. */
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
