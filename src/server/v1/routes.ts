import { Hono, type MiddlewareHandler } from "hono";
import { notSupported } from "../../protocol/v1/refusal.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";
import { agentRoutes } from "./agents.ts";
import type { V1Deps } from "./deps.ts";
import { environmentRoutes } from "./environments.ts";
import { eventRoutes } from "./events.ts";
import { fileRoutes } from "./files.ts";
import { modelRoutes } from "./models.ts";
import { resourceRoutes } from "./resources.ts";
import { sessionRoutes } from "./sessions.ts";
import { threadRoutes } from "./threads.ts";
import { Watchers } from "./watchers.ts";

/** Parts of Anthropic's API that a client may look for here, and what to do instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  complete: "Send a user.message to a session.",
  deployment_runs: "Start the sessions from your own program.",
  deployments: "Start the sessions from your own scheduler.",
  dreams: "Omit it.",
  memory_stores: "Put what the agent must know into files.",
  messages: "Send a user.message to a session, or call the model API directly.",
  organization: "Manage keys and projects with `capstan keys` and /api.",
  organizations: "Manage keys and projects with `capstan keys` and /api.",
  skills: "Put what the agent must know into its system prompt.",
  tunnels: "Omit it.",
  user_profiles: "Omit it.",
  vaults: "Set environment variables through /api/environments.",
};

/** The Managed Agents API for Anthropic's own clients. Mounted at `/v1`. */
export function v1Routes(given: ServerDeps): Hono<Env> {
  const deps: V1Deps = { ...given, watchers: new Watchers(given.clock) };
  const routes = new Hono<Env>();
  routes.use(ownWorkspace);
  for (const part of [
    agentRoutes(deps),
    environmentRoutes(deps),
    sessionRoutes(deps),
    eventRoutes(deps),
    threadRoutes(deps),
    resourceRoutes(deps),
    fileRoutes(deps),
    modelRoutes(),
  ])
    routes.route("/", part);
  for (const [name, next] of Object.entries(ELSEWHERE))
    for (const path of [`/${name}`, `/${name}/*`])
      routes.all(path, (c) => {
        requireRole(c, "viewer");
        throw notSupported(`/v1/${name}`, next);
      });
  return routes;
}

/** A key belongs to one project, which this API calls a workspace, and gives access to no other. */
const ownWorkspace: MiddlewareHandler<Env> = async (c, next) => {
  const wanted = c.req.header("anthropic-workspace-id");
  if (wanted !== undefined && wanted !== c.get("caller").project) throw otherWorkspace(wanted);
  await next();
};

function otherWorkspace(wanted: string): ApiFailure {
  return new ApiFailure(
    "not_found_error",
    `This key has no access to the workspace ${JSON.stringify(wanted)}. Omit the header anthropic-workspace-id, or use a key of that project.`,
    { details: { error_code: "not_found" } },
  );
}
