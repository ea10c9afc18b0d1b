import { useQuery } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { WireGrant } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Empty } from "../parts/empty.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Table } from "../parts/table.tsx";
import { tell } from "../parts/toast.tsx";

/** Remembered answers. */
export function GrantsView() {
  const [leaving, setLeaving] = useState<WireGrant>();
  const isAdmin = useMay("admin");
  const { data, error, refetch } = useQuery({ queryKey: ["grants"], queryFn: () => api.grants.list() });
  if (error !== null)
    return <Problem thrown={error} title="Could not load the grants" onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  if (data.length === 0)
    return (
      <div className="pt-2">
        <Empty icon={<KeyRound />} title="No remembered answers">
          When someone allows a call for a session, for the project or always, the saved rule appears here and can be
          revoked.
        </Empty>
      </div>
    );
  return (
    <div className="flex flex-col gap-3 pt-2">
      <p className="text-sm text-muted">
        A grant allows matching calls without asking. It never overrides a deny rule.
        {!isAdmin && " You can revoke the answers you gave; admins can revoke any."}
      </p>
      <Table
        caption="Grants"
        rows={data.toReversed()}
        rowKey={({ id }) => id}
        columns={[
          {
            title: "Rule",
            cell: ({ rule }) => (
              <code dir="ltr" className="block max-w-96 min-w-40 font-mono text-xs break-all">
                {rule}
              </code>
            ),
          },
          { title: "Scope", cell: (grant) => <Where grant={grant} /> },
          {
            title: "By",
            cell: ({ by }) => (
              <span dir="auto" className="block max-w-40 truncate" title={by}>
                {by}
              </span>
            ),
          },
          { title: "When", cell: ({ created_at: at }) => <Ago at={at} /> },
          { title: "Uses", figure: true, cell: ({ uses }) => uses },
          {
            title: "Last used",
            minor: true,
            cell: ({ last_used_at: at }) => (at === null ? <span className="text-faint">never</span> : <Ago at={at} />),
          },
          ...(data.some(({ may_revoke: mayRevoke }) => mayRevoke)
            ? [
                {
                  title: "Actions",
                  cell: (grant: WireGrant) =>
                    grant.may_revoke && (
                      <Button small look="danger" onClick={() => setLeaving(grant)}>
                        Revoke<span className="sr-only"> {grant.rule}</span>
                      </Button>
                    ),
                },
              ]
            : []),
        ]}
      />
      {leaving !== undefined && (
        <Confirm
          title="Revoke this grant?"
          action="Revoke"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await api.grants.revoke(leaving.id);
            await queries.invalidateQueries({ queryKey: ["grants"] });
            tell("Revoked. Matching calls need approval again.");
          }}
        >
          <code className="font-mono text-xs break-all">{leaving.rule}</code>
          <p>From the next call on, matching calls need approval again. Calls that already ran are not undone.</p>
        </Confirm>
      )}
    </div>
  );
}

function Where({ grant: { scope, session_id: session } }: { readonly grant: WireGrant }) {
  if (scope === "always") return "everywhere, always";
  if (session === null) return "in this project";
  return (
    <Link href={`/sessions/${encodeURIComponent(session)}`} className="text-accent hover:underline">
      in session …{session.slice(-6)}
    </Link>
  );
}
