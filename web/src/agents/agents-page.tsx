import { useInfiniteQuery } from "@tanstack/react-query";
import { Bot, Plus } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import type { WireAgent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Checkbox } from "../parts/form/checkbox.tsx";
import { Empty } from "../parts/empty.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Pill } from "../parts/tone.tsx";
import { ModePill } from "../policy/modes.tsx";

/** Agents per request. */
const PAGE = 50;

export function AgentsPage() {
  const [, navigate] = useLocation();
  const [hasArchived, setHasArchived] = useState(false);
  const mayWrite = useMay("admin");
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["agents", "list", hasArchived],
    queryFn: ({ pageParam }) =>
      api.agents.list({
        limit: PAGE,
        include_archived: hasArchived,
        ...(pageParam !== undefined && { after: pageParam }),
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => (last.length < PAGE ? undefined : last.at(-1)?.id),
  });
  const agents = data?.pages.flat();
  return (
    <Page
      title="Agents"
      about="Agents you can start sessions with. Edits create a new version; existing sessions keep theirs."
      actions={
        <>
          <Checkbox className="h-8 text-muted" isOn={hasArchived} onChange={setHasArchived}>
            Show archived
          </Checkbox>
          {mayWrite && (
            <Button look="primary" icon={<Plus className="size-4" />} onClick={() => navigate("/agents/new")}>
              New agent
            </Button>
          )}
        </>
      }
    >
      {error !== null && <Problem thrown={error} title="Could not load the agents" onRetry={() => void refetch()} />}
      {agents === undefined && error === null && <Loading />}
      {agents?.length === 0 && (
        <Empty icon={<Bot />} title="No agents in this project yet">
          Sessions use the default agent from the project settings.{" "}
          {mayWrite ? "Create one here or through the API." : "An admin can create more, here or through the API."}
        </Empty>
      )}
      {agents !== undefined && agents.length > 0 && (
        <Table caption="Agents" columns={COLUMNS} rows={agents} rowKey={({ id }) => id} />
      )}
      {hasNextPage && (
        <Button className="self-center" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<WireAgent>[] = [
  {
    title: "Name",
    flexible: true,
    cell: ({ id, name, description, archived_at: archived }) => (
      <div className="max-w-80 min-w-32">
        <div className="flex items-center gap-2">
          <Link
            href={`/agents/${encodeURIComponent(id)}`}
            dir="auto"
            className="truncate font-medium hover:underline"
            title={name}
          >
            {name}
          </Link>
          {archived !== null && <Pill tone="quiet">archived</Pill>}
        </div>
        {description !== null && description !== "" && (
          <p dir="auto" className="truncate text-xs text-muted" title={description}>
            {description}
          </p>
        )}
      </div>
    ),
  },
  {
    title: "Model",
    cell: ({ definition }) => (
      <span className="block max-w-48 truncate font-mono text-xs" title={definition.model}>
        {definition.model}
      </span>
    ),
  },
  { title: "Version", figure: true, minor: true, cell: ({ version }) => version },
  { title: "Tools", figure: true, minor: true, cell: ({ definition }) => <Tools of={definition} /> },
  { title: "Mode", minor: true, cell: ({ definition }) => <ModePill mode={definition.permissions.mode} /> },
  { title: "Updated", minor: true, cell: ({ updated_at: at }) => <Ago at={at} /> },
];

function Tools({
  of: { tools, custom_tools: custom = [], mcp_servers: servers = {} },
}: {
  of: WireAgent["definition"];
}) {
  const count = Object.keys(servers).length;
  return (
    <span className="whitespace-nowrap">
      {tools.length + custom.length}
      {count > 0 && <span className="text-muted"> + {count === 1 ? "1 server" : `${count} servers`}</span>}
    </span>
  );
}
