import { CapstanError, messageOf } from "../../core/errors.ts";
import { isSecretVariable } from "../../core/redaction/redaction-patterns.ts";
import { referencesIn, resolveReferences } from "../../core/agent/references.ts";
import { isCredentialVariable } from "../variables/credential-names.ts";
import type { Environment } from "../project/home.ts";
import type { Problem } from "../yaml/problems.ts";

/** Fields where `${NAME}` is resolved when the file is read; `*` is every key. Nowhere else. */
const AT_ONCE = [
  "extends",
  "model",
  "fallback_model",
  "instructions.file",
  "output_schema",
  "functions.*",
  "functions.*.module",
  "skills.*",
  "subagents.*",
  "subagents.*.model",
  "commands.*.file",
  "mcp_servers.*.command",
  "mcp_servers.*.args.*",
  "mcp_servers.*.url",
  "environment.workspace.base",
  "environment.workspace.branch",
  "environment.workspace.from",
  "environment.workspace.ref",
  "environment.workspace.mounts.*.source",
  "environment.sandbox.deny_read.*",
  "environment.sandbox.allow_read.*",
  "environment.sandbox.deny_write.*",
  "environment.sandbox.allow_write.*",
].map((shape) => shape.split("."));

/** Fields where it is kept, and resolved when a process starts: they may contain secrets, which are never saved. */
const LATER = ["mcp_servers.*.env.*", "mcp_servers.*.headers.*", "environment.variables.*"].map((shape) =>
  shape.split("."),
);

export interface References {
  /** The file's content with the fields that are resolved at once. */
  readonly content: unknown;
  readonly problems: readonly Problem[];
  /** What a process needs, and is not set. */
  readonly unset: readonly UnsetVariable[];
}

export interface UnsetVariable {
  readonly path: readonly PropertyKey[];
  readonly name: string;
}

/** Resolves variables in a file's content. Other texts keep their `${`. */
export function withVariables(content: unknown, environment: Environment): References {
  const problems: Problem[] = [];
  const unset: UnsetVariable[] = [];
  const resolveText = (text: string, path: readonly PropertyKey[], isLate: boolean): string => {
    const secret = referencesIn(text).find(isCredentialVariable);
    if (secret !== undefined) problems.push({ path, at: "value", text: refusal(secret) });
    const shown = isLate ? undefined : referencesIn(text).find(isSecretVariable);
    if (secret === undefined && shown !== undefined)
      problems.push({
        path,
        at: "value",
        text: `the variable ${shown} looks like a secret, but this field is saved and shown; pass it in env or headers of the server`,
      });
    try {
      return resolveReferences(text, (name) => environment[name]);
    } catch (error) {
      const name = error instanceof CapstanError ? error.data["name"] : undefined;
      if (isLate && typeof name === "string") unset.push({ path, name });
      else problems.push({ path, at: "value", text: messageOf(error) });
      return text;
    }
  };
  const walk = (node: unknown, path: readonly PropertyKey[]): unknown => {
    if (Array.isArray(node)) return node.map((item: unknown, index) => walk(item, [...path, index]));
    if (typeof node === "object" && node !== null)
      return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, walk(inner, [...path, key])]));
    if (typeof node !== "string" || !node.includes("${")) return node;
    if (stands(path, AT_ONCE)) return resolveText(node, path, false);
    if (stands(path, LATER)) resolveText(node, path, true);
    return node;
  };
  return { content: walk(content, []), problems, unset };
}

function refusal(name: string): string {
  return `the variable ${name} is a credential of the host, which agents must not see; use another one`;
}

function stands(path: readonly PropertyKey[], shapes: readonly (readonly string[])[]): boolean {
  return shapes.some(
    (steps) =>
      steps.length === path.length && steps.every((step, index) => step === "*" || step === String(path[index])),
  );
}
