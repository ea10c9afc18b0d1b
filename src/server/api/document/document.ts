import type { Api } from "../endpoint.ts";

export type OpenApiDocument = ReturnType<Api["getOpenAPI31Document"]>;

const INFO = {
  title: "Capstan",
  version: "1",
  description: [
    "What Capstan has and the Managed Agents API does not: approvals, grants, policy, budgets, audit, workspaces, and sessions as the command line knows them. Agents, environments, sessions, events and files as Anthropic's own client SDKs know them are served under `/v1`, and are described there.",
    "Names are in snake case, times are ISO 8601 in UTC, and lists stand in `data`. A key belongs to one project: what is another's is answered with 404. Every refusal has the same envelope, and a message that says what to do next.",
  ].join("\n\n"),
};

/** `/openapi.json`, made from the schemas that requests are checked with, and a page that renders it. */
export function addDocument(api: Api): void {
  api.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description:
      "A key of this server, made with `capstan keys create`. `Authorization: Bearer` is understood as well.",
  });
  let made: OpenApiDocument | undefined;
  const document = (): OpenApiDocument =>
    (made ??= api.getOpenAPI31Document({ openapi: "3.1.0", info: INFO, security: [{ key: [] }] }));

  api.get("/openapi.json", (c) => c.json(document()));

  api.get("/docs", async (c) => {
    // Few ever look at it.
    const { documentPage, PAGE_POLICY } = await import("./docs-page.ts");
    c.header("content-security-policy", PAGE_POLICY);
    return c.html(documentPage(document()));
  });
}
