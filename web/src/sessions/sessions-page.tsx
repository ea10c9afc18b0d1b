import { useQuery } from "@tanstack/react-query";
import { MessagesSquare, Plus, Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import type { WireSession } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Checkbox } from "../parts/form/checkbox.tsx";
import { cx } from "../parts/cx.ts";
import { Empty } from "../parts/empty.tsx";
import { Input, Select } from "../parts/form/field.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Price } from "../parts/figures/price.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Pill } from "../parts/tone.tsx";
import { nameOf } from "../session/session-name.ts";
import { statusOf } from "../session/session-status.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { listQuery, PAGE } from "./list-query.ts";

const MOST = 1_000;
/** In milliseconds: how often statuses, costs and approvals are refreshed. */
const ASKED_EVERY = 2_500;

/** Sessions with status and cost. The filters are in the URL, so that they can be bookmarked and shared. */
export function SessionsPage() {
  const [search, setSearch] = useSearchParams();
  const [text, setText] = useState(search.get("q") ?? "");
  const [limit, setLimit] = useState(PAGE);
  const asked = useSettled(text.trim());
  const agent = search.get("agent") ?? "";
  const status = search.get("status") ?? "";
  const withArchived = search.get("archived") === "yes";
  const { data, error, refetch } = useQuery({
    ...listQuery(search, asked, limit),
    refetchInterval: ASKED_EVERY,
    placeholderData: (before) => before,
  });
  const { data: agents = [] } = useQuery({
    queryKey: ["agents", "newest"],
    queryFn: () => api.agents.list({ limit: 100 }),
    staleTime: 60_000,
  });
  const mayStart = useMay("operator");
  const field = useRef<HTMLInputElement>(null);
  const isFiltered = asked !== "" || agent !== "" || status !== "";
  useShortcuts({ "/": () => field.current?.focus() });
  const filter = (name: string, value: string): void => {
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };
  return (
    <Page title="Sessions">
      <div className="flex flex-wrap gap-2" role="search">
        <div className="relative min-w-48 flex-1">
          <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" aria-hidden />
          <Input
            ref={field}
            type="search"
            aria-label="Search sessions"
            placeholder="Search titles, messages, agents, directories"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              filter("q", event.target.value);
            }}
            className="pl-8"
          />
        </div>
        <Select aria-label="Status" value={status} onChange={(event) => filter("status", event.target.value)} fit>
          <option value="">Any status</option>
          <option value="waiting">Needs approval</option>
          <option value="running">Running</option>
          <option value="idle">Idle</option>
          <option value="terminated">Ended</option>
        </Select>
        <Select
          aria-label="Agent"
          value={agent}
          onChange={(event) => filter("agent", event.target.value)}
          fit
          className="max-w-44"
        >
          <option value="">Any agent</option>
          {namesOf(
            agents.map(({ definition }) => definition.name),
            data ?? [],
          ).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
        <Checkbox className="text-muted" isOn={withArchived} onChange={(isOn) => filter("archived", isOn ? "yes" : "")}>
          Archived
        </Checkbox>
      </div>
      {error !== null && <Problem title="Could not load the sessions" thrown={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data?.length === 0 && (
        <Empty icon={<MessagesSquare />} title={isFiltered ? "No matching sessions" : "No sessions yet"}>
          {isFiltered ? (
            <Button small onClick={() => (setText(""), setSearch({}))}>
              Clear filters
            </Button>
          ) : (
            mayStart && <StartButton />
          )}
        </Empty>
      )}
      {data !== undefined && data.length > 0 && <SessionList sessions={data} />}
      {data !== undefined && data.length >= limit && limit < MOST && (
        <Button className="self-center" onClick={() => setLimit(Math.min(MOST, limit + 150))}>
          Show more
        </Button>
      )}
    </Page>
  );
}

/** The text after a pause in typing: searching on every letter is wasteful. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), 200);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

function namesOf(stored: readonly string[], sessions: readonly WireSession[]): readonly string[] {
  return [...new Set([...stored, ...sessions.map(({ agent }) => agent.name)])].toSorted();
}

function StartButton() {
  const [, navigate] = useLocation();
  return (
    <Button look="primary" icon={<Plus className="size-4" />} hint="n" onClick={() => navigate("/new")}>
      Start a session
    </Button>
  );
}

function SessionList({ sessions }: { readonly sessions: readonly WireSession[] }) {
  const list = useRef<HTMLUListElement>(null);
  const move = (step: number): void => {
    const links = [...(list.current?.querySelectorAll("a") ?? [])];
    const at = links.findIndex((link) => link === document.activeElement);
    links[Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  return (
    <ul
      ref={list}
      aria-label="Sessions"
      className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
    >
      {sessions.map((session) => (
        <li key={session.id}>
          <SessionRow session={session} />
        </li>
      ))}
    </ul>
  );
}

function SessionRow({ session }: { readonly session: WireSession }) {
  const { tone, label } = statusOf(session);
  return (
    <Link
      href={`/sessions/${session.id}`}
      className={cx(
        "grid grid-cols-[1fr_auto] items-center gap-x-3 px-3 py-2 hover:bg-sunken/60 focus-visible:-outline-offset-2",
        "sm:grid-cols-[1fr_8rem_7rem_7rem]",
      )}
    >
      <span className="min-w-0">
        <span dir="auto" className={cx("block truncate font-medium", session.archived_at !== null && "text-muted")}>
          {nameOf(session)}
        </span>
        <span className="block truncate text-xs text-faint">
          {session.agent.name}
          <span className="max-sm:hidden"> · {session.source}</span>
        </span>
      </span>
      <span className="justify-self-end sm:justify-self-start">
        <Pill tone={tone} dot={tone === "running"}>
          {label}
          {session.waiting > 1 && ` (${session.waiting})`}
        </Pill>
      </span>
      <span className="text-sm text-muted max-sm:text-xs sm:text-right">
        <Price of={session} />
      </span>
      <span className="text-right text-xs text-faint">
        <Ago at={session.last_activity_at} />
      </span>
    </Link>
  );
}
