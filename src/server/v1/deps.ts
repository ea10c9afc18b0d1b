import type { ServerDeps } from "../http/context.ts";
import type { Watchers } from "./watchers.ts";

/** Dependencies and state shared by the routes of the Managed Agents API. */
export interface V1Deps extends ServerDeps {
  readonly watchers: Watchers;
}
