import type { WireSession } from "../../../src/client/index.ts";
import { api } from "../api.ts";

/** Size of the first page. */
export const PAGE = 50;

const STATUSES = ["running", "idle", "rescheduling", "terminated"] as const;
type Status = (typeof STATUSES)[number];

/** The query for the filters in the URL. */
export function listQuery(search: URLSearchParams, text = search.get("q") ?? "", limit = PAGE) {
  const asked = text.trim();
  const agent = search.get("agent") ?? "";
  const status = search.get("status") ?? "";
  const query = {
    limit,
    include_archived: search.get("archived") === "yes",
    ...(asked !== "" && { search: asked }),
    ...(agent !== "" && { agent }),
    ...(isStatus(status) && { status }),
    ...(status === "waiting" && { waiting: true }),
  };
  return { queryKey: ["sessions", query], queryFn: (): Promise<WireSession[]> => api.sessions.list(query) };
}

function isStatus(text: string): text is Status {
  return STATUSES.some((status) => status === text);
}
