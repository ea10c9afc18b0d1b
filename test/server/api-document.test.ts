import { afterAll, beforeAll, expect, test } from "vitest";
import { type ApiApp, apiApp } from "../support/api-app.ts";

let api: ApiApp;
beforeAll(async () => {
  api = await apiApp();
});
afterAll(() => api[Symbol.asyncDispose]());

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { securitySchemes: Record<string, unknown>; schemas: Record<string, unknown> };
}
interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly security?: unknown;
  readonly responses: Record<string, { content?: Record<string, { schema?: unknown }> }>;
}

async function document(): Promise<Document> {
  const response = await api.app.request("/openapi.json");
  expect(response.status).toBe(200);
  return (await response.json()) as Document;
}

/** Not a request with an answer, so the document cannot describe it. */
const SOCKET = "GET /api/sessions/{id}/socket";

test("the document has every route below /api and no others", async () => {
  const { paths } = await document();
  const documented = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const served = api.app.routes
    .filter(({ path, method }) => path.startsWith("/api/") && method !== "ALL")
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  expect([...documented, SOCKET].toSorted()).toEqual([...new Set(served)].toSorted());
  expect(documented.length).toBeGreaterThan(30);
});

test("every operation documents its effect, role, answer and errors", async () => {
  const { openapi, paths, components } = await document();
  expect(openapi).toBe("3.1.0");
  expect(Object.keys(components.securitySchemes)).toEqual(["key"]);
  for (const [path, item] of Object.entries(paths))
    for (const [method, { summary, description, security, responses }] of Object.entries(item)) {
      const where = `${method} ${path}`;
      expect(summary, where).toMatch(/\w{3}/);
      expect(description, where).toMatch(/Requires the role (viewer|operator|admin)\./);
      expect(security, where).toEqual([{ key: [] }]);
      expect(responses["default"]?.content?.["application/json"]?.schema, where).toEqual({
        $ref: "#/components/schemas/Error",
      });
      const done = Object.entries(responses).find(([status]) => status.startsWith("2"));
      expect(Object.values(done?.[1].content ?? {})[0]?.schema, where).toBeDefined();
    }
});

test("references in the document resolve", async () => {
  const found = await document();
  const refs = [...JSON.stringify(found).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(refs.length).toBeGreaterThan(20);
  for (const name of refs) expect(Object.keys(found.components.schemas)).toContain(name);
});

test("the page shows every operation, without scripts or external resources", async () => {
  const { paths } = await document();
  const response = await api.app.request("/docs");
  const html = await response.text();
  expect(response.headers.get("content-type")).toContain("text/html");
  expect(response.headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
  for (const path of Object.keys(paths)) expect(html).toContain(`<code>${path}</code>`);
  expect(html).not.toMatch(/<script|<link|<img|<iframe|javascript:|\son\w+=/i);
  // Links stay on the page, or lead to the document.
  const links = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target = ""]) => target);
  expect(links.filter((target) => !target.startsWith("#"))).toEqual(["/openapi.json"]);
  for (const target of links) if (target.startsWith("#")) expect(html).toContain(`id="${target.slice(1)}"`);
  expect(html).toContain("color-scheme: light dark");
});

test("the page's policy allows its style", async () => {
  const { createHash } = await import("node:crypto");
  const response = await api.app.request("/docs");
  const [, style = ""] = /<style>([^<]*)<\/style>/.exec(await response.text()) ?? [];
  const hash = createHash("sha256").update(style).digest("base64");
  expect(response.headers.get("content-security-policy")).toContain(`'sha256-${hash}'`);
});
