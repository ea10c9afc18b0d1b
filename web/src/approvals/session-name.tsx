import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { WireApproval } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { nameOf } from "../session/session-name.ts";

/** The session and agent that ask. */
export function SessionName({ approval: { session_id: id, agent } }: { readonly approval: WireApproval }) {
  const { data } = useQuery({
    queryKey: ["session-name", id],
    queryFn: async () => (await api.sessions.list({ named: id, limit: 1 }))[0] ?? null,
    staleTime: 60_000,
  });
  const name = nameOf({ ...data, id });
  return (
    <p className="flex min-w-0 items-baseline gap-2 text-xs text-muted">
      <Link
        href={`/sessions/${id}`}
        dir="auto"
        title={name}
        className="truncate py-1 text-sm font-medium text-text underline-offset-2 hover:underline"
      >
        {name.slice(0, 200)}
      </Link>
      <span dir="auto" className="shrink-0 max-w-40 truncate">
        {agent}
      </span>
    </p>
  );
}
