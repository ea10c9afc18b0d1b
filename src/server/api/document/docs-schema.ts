/** The subset of JSON Schema that the document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** Formats paragraphs; text in backquotes is code. */
export function prose(text: string): string {
  return text
    .split("\n\n")
    .filter((part) => part.trim() !== "")
    .map((part) => `<p>${inline(part)}</p>`)
    .join("");
}

function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

export function schemaHtml(schema: Schema): string {
  const about = schema.description === undefined ? "" : ` ${inline(schema.description)}`;
  return `<span class="type">${typeText(schema)}</span>${about}${partsHtml(schema)}`;
}

function typeText(schema: Schema): string {
  const { $ref, type, enum: values, const: only, format, items, additionalProperties: rest, default: usual } = schema;
  if ($ref !== undefined) return link($ref);
  if (values !== undefined)
    return values.map((value) => `<code>${escapeHtml(JSON.stringify(value))}</code>`).join(" or ");
  if (only !== undefined) return `<code>${escapeHtml(JSON.stringify(only))}</code>`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return choices.every(isPlain) ? choices.map(typeText).join(" or ") : "one of";
  if (schema.allOf !== undefined) return schema.allOf.map((part) => (isPlain(part) ? typeText(part) : "")).join(" ");
  const names = (typeof type === "string" ? [type] : (type ?? ["anything"])).map((name) => {
    if (name === "array") return items === undefined ? "list" : `list of ${typeText(items)}`;
    if (name === "object" && typeof rest === "object") return `object of ${typeText(rest)}`;
    return escapeHtml(format === undefined || name === "null" ? name : `${name} (${format})`);
  });
  const otherwise = usual === undefined ? "" : `, default <code>${escapeHtml(JSON.stringify(usual))}</code>`;
  return names.join(" or ") + otherwise;
}

/** Whether a few words describe the whole schema. */
function isPlain({ properties, oneOf, anyOf, allOf, items, additionalProperties: rest }: Schema): boolean {
  if (properties !== undefined || oneOf !== undefined || anyOf !== undefined || allOf !== undefined) return false;
  return (items === undefined || isPlain(items)) && (typeof rest !== "object" || isPlain(rest));
}

function partsHtml(schema: Schema): string {
  const { properties, required = [], items, additionalProperties: rest } = schema;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      const must = required.includes(name) ? ' <span class="must">required</span>' : "";
      return `<li><code>${escapeHtml(name)}</code>${must} ${schemaHtml(field)}</li>`;
    });
    return `<ul class="fields">${fields.join("")}</ul>`;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined && !choices.every(isPlain))
    return `<ul class="fields">${choices.map((choice) => `<li>${schemaHtml(choice)}</li>`).join("")}</ul>`;
  if (schema.allOf !== undefined) return schema.allOf.map((part) => (isPlain(part) ? "" : partsHtml(part))).join("");
  if (items !== undefined && !isPlain(items)) return partsHtml(items);
  return typeof rest === "object" && !isPlain(rest) ? partsHtml(rest) : "";
}

function link(ref: string): string {
  const name = escapeHtml(ref.split("/").at(-1) ?? ref);
  return `<a href="#schema-${name}">${name}</a>`;
}
