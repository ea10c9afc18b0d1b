import type { ServerDeps } from "../http/context.ts";
import type { Watchers } from "./watchers.ts";

/** What the routes of the Managed Agents API are given, and share among themselves. */
export interface V1Deps extends ServerDeps {
  readonly watchers: Watchers;
}
