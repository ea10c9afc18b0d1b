import { useQueries } from "@tanstack/react-query";
import { Link } from "wouter";
import type { WireLedgerLine, WireSession } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { Loading } from "../parts/loading.tsx";
import { Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { nameOf } from "../session/session-name.ts";
import { type Range, useSpending } from "./ledger-query.ts";
import { type Billing, dearest } from "./sums.ts";
import { PAYERS, priceOfLine, rateOfLine, tokensOfLine } from "./words.ts";
import { thousands } from "../../../src/words/amounts.ts";

const SHOWN = 10;

interface Wanted {
  readonly range: Range;
  readonly zone: string | undefined;
  readonly billing: Billing;
}

const FIGURES: readonly Column<WireLedgerLine>[] = [
  { title: "Requests", figure: true, minor: true, cell: ({ requests }) => thousands(requests) },
  { title: "Tokens", figure: true, minor: true, cell: tokensOfLine },
  { title: "From cache", figure: true, minor: true, cell: rateOfLine },
  { title: "Cost", figure: true, cell: priceOfLine },
];

/** The most expensive sessions, including deleted ones: ledger lines outlive their sessions. */
export function DearestSessions({ range, zone, billing }: Wanted) {
  const { data, error, refetch } = useSpending({ by: "session", split: "agent" }, range, zone);
  const lines = dearest(data?.lines.filter((line) => line.billing === billing) ?? [], SHOWN);
  const found = useQueries({
    queries: lines.map(({ key }) => ({
      queryKey: ["session-named", key],
      queryFn: async () => (await api.sessions.list({ named: key, limit: 1 }))[0] ?? null,
      staleTime: 60_000,
    })),
  });
  const sessions = new Map(lines.map(({ key }, index) => [key, found[index]?.data]));
  return (
    <Section title="Most expensive sessions">
      {error !== null && <Problem thrown={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? (
        <Loading />
      ) : (
        <Table
          caption={`Most expensive sessions, ${PAYERS[billing].toLowerCase()}`}
          rows={lines}
          rowKey={({ key, part }) => `${key} ${part ?? ""}`}
          columns={[
            {
              title: "Session",
              flexible: true,
              cell: ({ key }) => <SessionName id={key} session={sessions.get(key)} />,
            },
            { title: "Agent", minor: true, cell: ({ part }) => <span dir="auto">{part}</span> },
            ...FIGURES,
          ]}
        />
      )}
    </Section>
  );
}

/** `null`: deleted; `undefined`: not known yet. */
function SessionName({ id, session }: { readonly id: string; readonly session: WireSession | null | undefined }) {
  if (session === null)
    return (
      <span className="text-muted">
        <span className="font-mono text-xs">{id}</span> (deleted)
      </span>
    );
  const name = nameOf({ ...session, id }, id);
  return (
    <Link
      href={`/sessions/${id}`}
      dir="auto"
      title={name}
      className="block max-w-64 truncate font-medium hover:text-accent hover:underline sm:max-w-96"
    >
      {name}
    </Link>
  );
}

const OTHERS: Readonly<Record<string, string>> = {
  "(message)": "no tool: responses to messages",
  "(compaction)": "no tool: compaction",
  "(auxiliary)": "no tool: model requests made by tools",
};

/** The cost of reading each tool's results. */
export function DearestTools({ range, zone, billing }: Wanted) {
  const { data, error, refetch } = useSpending({ by: "tool" }, range, zone);
  return (
    <Section title="Most expensive tools">
      {error !== null && <Problem thrown={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null ? (
        <Loading />
      ) : (
        <Table
          caption={`Most expensive tools, ${PAYERS[billing].toLowerCase()}`}
          rows={dearest(data?.lines.filter((line) => line.billing === billing) ?? [], SHOWN)}
          rowKey={({ key }) => key}
          columns={[
            {
              title: "Tool",
              cell: ({ key }) =>
                OTHERS[key] === undefined ? (
                  <span dir="auto" className="font-mono text-xs break-all">
                    {key}
                  </span>
                ) : (
                  <span className="text-muted">{OTHERS[key]}</span>
                ),
            },
            ...FIGURES,
          ]}
        />
      )}
      <p className="text-xs text-faint">
        Each request counts toward the tools whose results it is the first to read, divided among them if there are
        several.
      </p>
    </Section>
  );
}
