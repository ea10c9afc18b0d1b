/**
 * The part of JSONPath (RFC 9535) that selects values: `$`, `.name`, `['name']`, `[0]`, `[-1]`, `[*]`, `.*` and `..`.
 * Filters and slices are refused: use a function for those.
 */

type Step =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | { readonly kind: "every" }
  | { readonly kind: "below" };

const STEP =
  /(?:(\.\.?)(?:(\*)|([\p{L}_][\p{L}\p{N}_-]*))|(\.\.)?\[(?:(\*)|(-?\d+)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\])/uy;

export function checkJsonPath(path: string): void {
  stepsOf(path);
}

/** Every selected value, in document order. */
export function valuesAt(document: unknown, path: string): readonly unknown[] {
  return stepsOf(path).reduce<readonly unknown[]>(
    (values, step) => values.flatMap((one) => take(one, step)),
    [document],
  );
}

function stepsOf(path: string): Step[] {
  if (!path.startsWith("$")) throw new Error("a path must start with $");
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (match === null)
      throw new Error(`character ${at + 1}: expected .name, ['name'], [0], [*], .* or .. (no filters, no slices)`);
    const [, dots, star, name, deep, every, index, single, double] = match;
    if (dots === ".." || deep !== undefined) steps.push({ kind: "below" });
    const quoted = (single ?? double)?.replaceAll(/\\(.)/gsu, "$1");
    if ((star ?? every) !== undefined) steps.push({ kind: "every" });
    else if (index !== undefined) steps.push({ kind: "index", index: Number(index) });
    else steps.push({ kind: "name", name: name ?? quoted ?? "" });
  }
  return steps;
}

function take(value: unknown, step: Step): readonly unknown[] {
  if (step.kind === "below") return [value, ...childrenOf(value).flatMap((child) => take(child, step))];
  if (step.kind === "every") return childrenOf(value);
  if (step.kind === "index")
    return Array.isArray(value) && step.index < value.length && step.index >= -value.length
      ? [value.at(step.index)]
      : [];
  return isMapping(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isMapping(value) ? Object.values(value) : [];
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
