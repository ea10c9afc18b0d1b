import { createHash } from "node:crypto";
import type { OpenApiDocument } from "./document.ts";
import { escapeHtml, prose, type Schema, schemaHtml } from "./docs-schema.ts";

/** An HTML page generated from the document: no scripts and no external resources. */

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h1 { font-size: 1.75rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
code, pre { font: 0.875rem/1.5 ui-monospace, monospace; }
nav ul { columns: 2; padding-left: 1.2rem; }
details { border: 1px solid var(--line); border-radius: 6px; margin: 0.5rem 0; padding: 0 0.75rem; }
summary { cursor: pointer; padding: 0.5rem 0; overflow-wrap: anywhere; }
summary .about { margin-left: 0.5rem; }
.method { display: inline-block; min-width: 4.5rem; font-weight: 700; }
.type { opacity: 0.75; } .must { font-weight: 700; }
ul.fields { padding-left: 1.2rem; margin: 0.25rem 0 0.75rem; }
h4 { margin: 0.75rem 0 0.25rem; font-size: 0.95rem; }
`;

export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, { readonly description?: string; readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function documentPage({ info, paths = {}, components }: OpenApiDocument): string {
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method): Route[] => {
      const operation = item[method] as Operation | undefined;
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
  const tags = [...new Set(routes.map(({ operation }) => tagOf(operation)))];
  const schemas = Object.entries(components?.schemas ?? {}) as [string, Schema][];
  const title = `${info.title} API`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${prose(info.description ?? "")}
<p>OpenAPI: <a href="/openapi.json">/openapi.json</a></p>
<nav><ul>${tags.map((tag) => `<li><a href="#${anchor(tag)}">${escapeHtml(tag)}</a></li>`).join("")}<li><a href="#schemas">Schemas</a></li></ul></nav>
<main>
${tags.map((tag) => section(tag, routes)).join("\n")}
<h2 id="schemas">Schemas</h2>
${schemas.map(([name, schema]) => `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${schemaHtml(schema)}</details>`).join("\n")}
</main>
</body>
</html>
`;
}

function tagOf({ tags }: Operation): string {
  return tags?.[0] ?? "Other";
}

function anchor(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, "-");
}

function section(tag: string, routes: readonly Route[]): string {
  const own = routes.filter(({ operation }) => tagOf(operation) === tag);
  return `<h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>\n${own.map(routeHtml).join("\n")}`;
}

function routeHtml({ method, path, operation }: Route): string {
  const { summary = "", description = "", parameters = [], requestBody, responses = {} } = operation;
  const parts = [
    prose(description),
    parameters.length === 0
      ? ""
      : `<h4>Parameters</h4><ul class="fields">${parameters.map(parameterHtml).join("")}</ul>`,
    requestBody === undefined ? "" : `<h4>Body</h4>${contentHtml(requestBody.content)}`,
    ...Object.entries(responses).map(
      ([status, { description: about = "", content }]) =>
        `<h4>${escapeHtml(status === "default" ? "Refusals" : `Response ${status}`)}</h4>${content === undefined ? prose(about) : contentHtml(content)}`,
    ),
  ];
  return `<details id="${method}-${escapeHtml(path)}"><summary><span class="method">${method.toUpperCase()}</span><code>${escapeHtml(path)}</code><span class="about">${escapeHtml(summary)}</span></summary>${parts.join("")}</details>`;
}

function parameterHtml({
  name,
  in: place,
  required = false,
  schema = {},
}: NonNullable<Operation["parameters"]>[number]): string {
  const must = required ? ' <span class="must">required</span>' : "";
  return `<li><code>${escapeHtml(name)}</code> <span class="type">in the ${escapeHtml(place)},</span>${must} ${schemaHtml(schema)}</li>`;
}

function contentHtml(content: Content = {}): string {
  return Object.entries(content)
    .map(([type, { schema }]) =>
      type === "application/json" && schema !== undefined
        ? schemaHtml(schema)
        : `<p><code>${escapeHtml(type)}</code></p>`,
    )
    .join("");
}
