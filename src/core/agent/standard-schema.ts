/**
 * The part of Standard Schema and Standard JSON Schema (standardschema.dev) that Capstan uses. Structural, so that
 * schemas of any library that follows the standard fit, without installing the standard's own package.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    /** For the compiler only; absent at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    /** Absent in libraries that can't convert to JSON Schema. May throw for what JSON Schema can't express. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => Record<string, unknown> };
  };
}

type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

/** `a.b.0: message`, where `root` is the whole value. */
export function describeIssue(issue: SchemaIssue, root: string): string {
  const path = (issue.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
  return `${path.join(".") || root}: ${issue.message}`;
}
