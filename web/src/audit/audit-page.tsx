import { useQuery } from "@tanstack/react-query";
import { Download, ScrollText, ShieldCheck } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import { api } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Input } from "../parts/form/field.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Pill } from "../parts/tone.tsx";
import { useShortcuts } from "../shell/shortcuts.ts";
import { DownloadLink } from "./download-link.tsx";
import { foundRows, type SessionRow, sessionName, sessionRows } from "./session-rows.ts";
import { VerificationResult } from "./verification-result.tsx";
import { thousands } from "../../../src/words/amounts.ts";

/** Rows per page. */
const FIRST = 50;

export function AuditPage() {
  const { data, error, refetch, isFetching, dataUpdatedAt } = useQuery({
    queryKey: ["audit"],
    queryFn: () => api.verifyAudit(),
    // Reads every event of every session, so it runs once and then only on request.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  return (
    <Page
      title="Audit"
      about="Verify that this project's session logs have not been altered."
      actions={
        <Button
          look="primary"
          icon={<ShieldCheck className="size-4" aria-hidden />}
          disabled={isFetching}
          onClick={() => void refetch()}
        >
          {isFetching ? "Verifying…" : "Verify now"}
        </Button>
      }
    >
      {error !== null && !isFetching && (
        <Problem title="Could not verify the logs" thrown={error} onRetry={() => void refetch()} />
      )}
      {data === undefined && isFetching && <Loading label="Verifying every event of every session" />}
      {data !== undefined && (
        <>
          <VerificationResult report={data} at={dataUpdatedAt} of="all sessions" />
          <AuditedSessions audited={data.sessions} />
        </>
      )}
    </Page>
  );
}

function AuditedSessions({ audited }: { readonly audited: Parameters<typeof sessionRows>[0] }) {
  const [search, setSearch] = useState("");
  const [shown, setShown] = useState(FIRST);
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => field.current?.focus() });
  // Only for names; without them the ids are shown.
  const { data: sessions } = useQuery({
    queryKey: ["sessions", "names"],
    queryFn: () => api.sessions.list({ limit: 1_000 }),
  });
  const rows = useMemo(() => sessionRows(audited, sessions ?? []), [audited, sessions]);
  const found = useMemo(() => foundRows(rows, search), [rows, search]);
  if (rows.length === 0)
    return (
      <Empty icon={<ScrollText />} title="No session logs yet">
        Every session writes a log from its first event. You can verify it here.
      </Empty>
    );
  return (
    <Section
      title="Sessions"
      actions={
        <Input
          ref={field}
          type="search"
          aria-label="Search sessions"
          placeholder="Title, message, agent or ID"
          className="sm:w-72"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      }
    >
      <Table
        caption="Verified sessions"
        columns={COLUMNS}
        rows={found.slice(0, shown)}
        rowKey={({ session_id: id }) => id}
        empty={`No session matches “${search}” in its title, first message, agent or ID.`}
      />
      {found.length > shown && (
        <Button className="self-center" onClick={() => setShown(shown + 200)}>
          Show more of {thousands(found.length)}
        </Button>
      )}
    </Section>
  );
}

const STATUS: Readonly<Record<SessionRow["status"], string>> = {
  ok: "sound",
  altered: "altered",
  truncated: "truncated",
  missing: "missing",
};

const COLUMNS: readonly Column<SessionRow>[] = [
  {
    title: "Session",
    flexible: true,
    cell: ({ session_id: id, session, status, erased }) => {
      const name = session === undefined ? id : sessionName(session);
      return (
        <div className="max-w-36 sm:max-w-md">
          {status === "missing" || erased ? (
            <span className="break-all">{name}</span>
          ) : (
            <Link
              href={`/audit/${id}`}
              dir="auto"
              title={name}
              className="block truncate text-left font-medium hover:underline"
            >
              {name}
            </Link>
          )}
          {session !== undefined && <span className="block truncate font-mono text-xs text-faint">{id}</span>}
        </div>
      );
    },
  },
  {
    title: "Log",
    cell: ({ status, erased }) => (
      <Pill tone={status === "ok" ? "good" : "bad"}>
        {STATUS[status]}
        {erased ? ", erased" : ""}
      </Pill>
    ),
  },
  { title: "Events verified", figure: true, minor: true, cell: ({ events }) => thousands(events) },
  {
    title: "Not signed yet",
    figure: true,
    minor: true,
    cell: ({ unsigned }) => thousands(unsigned),
  },
  {
    title: "Last active",
    minor: true,
    cell: ({ session }) => (session === undefined ? "–" : <Ago at={session.last_activity_at} />),
  },
  {
    title: "Download",
    cell: ({ session_id: id, session, status, erased }) =>
      status === "missing" || erased ? null : (
        <span className="-mx-2">
          <DownloadLink id={id}>
            <Download className="size-4" aria-hidden />
            <span className="sr-only">Download the log of {session === undefined ? id : sessionName(session)}</span>
          </DownloadLink>
        </span>
      ),
  },
];
