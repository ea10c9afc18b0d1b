import type { BuiltinTool } from "../tools/builtin-tool.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Makes a check of a JSON Schema, which returns what is wrong with a value; rejects for a schema that cannot be used. */
export type CompileSchema = (
  schema: Schema,
) => Promise<(value: unknown) => readonly { readonly path: string; readonly message: string }[]>;

type Check = Awaited<ReturnType<CompileSchema>>;

/** Checks what the model wrote against the schemas of tools. A schema is compiled when it is first needed, and once. */
export class InputChecks {
  readonly #compile: CompileSchema;
  readonly #checks = new WeakMap<Schema, Promise<Check | undefined>>();

  constructor(compile: CompileSchema) {
    this.#compile = compile;
  }

  /** Undefined when the input fits. */
  async problems({ inputSchema }: BuiltinTool, input: unknown): Promise<string | undefined> {
    let check = this.#checks.get(inputSchema);
    if (check === undefined) {
      const { $schema: _dialect, ...plain } = inputSchema;
      // Servers write schemas that no compiler takes; such a server looks at its input itself.
      check = this.#compile(plain).catch(() => undefined);
      this.#checks.set(inputSchema, check);
    }
    const found = (await check)?.(input) ?? [];
    if (found.length === 0) return undefined;
    return `${found.map(({ path, message }) => `${path || "(input)"}: ${message}`).join("; ")}.`;
  }
}
