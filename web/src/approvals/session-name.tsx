import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { WireApproval } from "../../../src/client/index.ts";
import { api } from "../api.ts";

/** Which session of which agent asks. */
export function SessionName({ approval: { session_id: id, agent } }: { readonly approval: WireApproval }) {
  const { data } = useQuery({
    queryKey: ["session-name", id],
    queryFn: async () => (await api.sessions.list({ named: id, limit: 1 }))[0] ?? null,
    staleTime: 60_000,
  });
  const words = data?.title ?? data?.first_message ?? "";
  return (
    <p className="flex min-w-0 items-baseline gap-2 text-xs text-muted">
      <Link
        href={`/sessions/${id}`}
        dir="auto"
        title={words}
        className="truncate py-1 text-sm font-medium text-text underline-offset-2 hover:underline"
      >
        {words === "" ? `Session ${id.slice(-6)}` : words.slice(0, 200)}
      </Link>
      <span dir="auto" className="shrink-0 max-w-40 truncate">
        {agent}
      </span>
    </p>
  );
}
