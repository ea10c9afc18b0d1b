import { readToolName } from "../../tool-names.ts";
import type { BuiltinTool } from "../tools/builtin-tool.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Makes a check of a JSON Schema, which returns what is wrong with a value; rejects for a schema that cannot be used. */
export type CompileSchema = (
  schema: Schema,
  options: { readonly isOurs: boolean },
) => Promise<(value: unknown) => readonly { readonly path: string; readonly message: string }[]>;

type Checked = Pick<BuiltinTool, "name" | "inputSchema" | "traits">;
type Check = Awaited<ReturnType<CompileSchema>>;

/** So many schemas of servers, which come anew with every session, are remembered by their text. */
const MOST_TEXTS = 500;

/** Checks what the model wrote against the schemas of tools. A schema is compiled when it is first needed, and once. */
export class InputChecks {
  readonly #compile: CompileSchema;
  readonly #checks = new WeakMap<Schema, Promise<Check | undefined>>();
  readonly #byText = new Map<string, Promise<Check | undefined>>();

  constructor(compile: CompileSchema) {
    this.#compile = compile;
  }

  /** Undefined when the input fits. */
  async problems({ name, inputSchema, traits }: Checked, input: unknown): Promise<string | undefined> {
    let check = this.#checks.get(inputSchema);
    if (check === undefined) {
      // Servers write schemas that no compiler takes; such a server looks at its input itself, as a client does.
      const isElsewhere = readToolName(name).kind === "mcp" || traits.custom === true;
      const text = `${isElsewhere ? "elsewhere" : "own"} ${JSON.stringify(inputSchema)}`;
      check = this.#byText.get(text) ?? this.#checkOf(inputSchema, isElsewhere).catch(() => undefined);
      this.#checks.set(inputSchema, check);
      this.#remember(text, check);
    }
    const found = (await check)?.(input) ?? [];
    if (found.length === 0) return undefined;
    return `${found.map(({ path, message }) => `${path || "(input)"}: ${message}`).join("; ")}.`;
  }

  #remember(text: string, check: Promise<Check | undefined>): void {
    this.#byText.delete(text);
    this.#byText.set(text, check);
    const [oldest] = this.#byText.keys();
    if (this.#byText.size > MOST_TEXTS && oldest !== undefined) this.#byText.delete(oldest);
  }

  async #checkOf({ $schema: _dialect, ...schema }: Schema, isElsewhere: boolean): Promise<Check | undefined> {
    const usable = isElsewhere ? withoutPatterns(schema) : schema;
    return usable && this.#compile(usable, { isOurs: !isElsewhere });
  }
}

/** Without the patterns in them, these could refuse an input that fits. */
const UNSURE = new Set(["patternProperties", "not", "if", "oneOf", "contains"]);
/** Values, and no schemas; but a `$ref` can make one of them. */
const VALUES = new Set(["const", "enum"]);

/**
 * A pattern can hold up the host, and servers and the authors of custom tools may write any. Undefined when what is left would not be a fair
 * check. Names of properties are taken for keywords here: at worst an input is not checked.
 */
function withoutPatterns(schema: Schema): Schema | undefined {
  let hasPatterns = false;
  let isSure = true;
  const left = JSON.stringify(schema, (key, value: unknown) => {
    if (UNSURE.has(key) || (VALUES.has(key) && JSON.stringify(value).includes('"pattern"'))) isSure = false;
    if (key === "patternProperties") hasPatterns = true;
    if (key !== "pattern" || typeof value !== "string") return value;
    hasPatterns = true;
    return undefined;
  });
  if (!hasPatterns) return schema;
  return isSure ? (JSON.parse(left) as Schema) : undefined;
}
