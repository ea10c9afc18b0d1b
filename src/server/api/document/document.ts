import type { Api } from "../endpoint.ts";

export type OpenApiDocument = ReturnType<Api["getOpenAPI31Document"]>;

const INFO = {
  title: "Capstan",
  version: "1",
  description: [
    "The parts of Capstan that the Managed Agents API does not have: approvals, grants, policy, budgets, audit, workspaces, and sessions as the command line uses them. Agents, environments, sessions, events and files for Anthropic's client SDKs are served under `/v1` and described in Anthropic's documentation.",
    "Names use snake case, times are ISO 8601 in UTC, and lists are in `data`. A key belongs to one project; requests for another project's records return 404. All errors have the same envelope, and a message that says what to do next.",
  ].join("\n\n"),
};

/** Serves `/openapi.json`, generated from the schemas that validate requests, and a page that renders it. */
export function addDocument(api: Api): void {
  api.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "A key of this server, created with `capstan keys create`. `Authorization: Bearer` works as well.",
  });
  let made: OpenApiDocument | undefined;
  const document = (): OpenApiDocument =>
    (made ??= api.getOpenAPI31Document({ openapi: "3.1.0", info: INFO, security: [{ key: [] }] }));

  api.get("/openapi.json", (c) => c.json(document()));

  api.get("/docs", async (c) => {
    // Loaded on demand, because few requests need it.
    const { documentPage, PAGE_POLICY } = await import("./docs-page.ts");
    c.header("content-security-policy", PAGE_POLICY);
    return c.html(documentPage(document()));
  });
}
