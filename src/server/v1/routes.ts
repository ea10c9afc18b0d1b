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
  deployment_runs: "Start sessions yourself.",
  deployments: "Start sessions yourself, on whatever schedule you have.",
  dreams: "Leave it out.",
  memory_stores: "Put what the agent must know into files.",
  messages: "Send a user.message to a session, or ask the model API directly.",
  organization: "Keys and projects are managed with `capstan keys` and through /api.",
  organizations: "Keys and projects are managed with `capstan keys` and through /api.",
  skills: "Say in the agent's system prompt what it must know.",
  tunnels: "Leave it out.",
  user_profiles: "Leave it out.",
  vaults: "Give the environment variables through /api/environments.",
};

/** The Managed Agents API, as Anthropic's own clients speak it. Mounted at `/v1`. */
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

/** A key belongs to one project, which the API calls a workspace. No other is to be seen with it. */
const ownWorkspace: MiddlewareHandler<Env> = async (c, next) => {
  const wanted = c.req.header("anthropic-workspace-id");
  if (wanted !== undefined && wanted !== c.get("caller").project) throw otherWorkspace(wanted);
  await next();
};

function otherWorkspace(wanted: string): ApiFailure {
  return new ApiFailure(
    "not_found_error",
    `There is no workspace ${JSON.stringify(wanted)} for this key, which belongs to one project. Leave the header anthropic-workspace-id out, or use a key of that project.`,
    { details: { error_code: "not_found" } },
  );
}
