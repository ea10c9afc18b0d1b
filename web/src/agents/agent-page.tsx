import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, Copy, Pencil, Play } from "lucide-react";
import { Link, useLocation, useSearchParams } from "wouter";
import type { WireAgent } from "../../../src/client/index.ts";
import { api, isRefused } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Menu, MenuItem } from "../parts/menu.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { tell, tellProblem } from "../parts/toast.tsx";
import { Pill } from "../parts/tone.tsx";
import { AgentEditor } from "./agent-editor.tsx";
import { fileText } from "./agent-text.ts";
import { CheckView } from "./check-view.tsx";
import { DefinitionView } from "./definition-view.tsx";
import { VersionsView } from "./versions-view.tsx";

/** An agent, or with the id `new` the form to create one. */
export function AgentPage({ id }: { readonly id: string }) {
  return id === "new" ? <NewAgent /> : <StoredAgent id={id} />;
}

function NewAgent() {
  const mayWrite = useMay("admin");
  const [, navigate] = useLocation();
  return (
    <Page title="New agent" about={<BackLink />}>
      {mayWrite ? (
        <AgentEditor
          onSaved={({ id }) => navigate(`/agents/${encodeURIComponent(id)}`)}
          onCancel={() => navigate("/agents")}
        />
      ) : (
        <Empty title="Only admins can create agents">Your role can view agents and start sessions with them.</Empty>
      )}
    </Page>
  );
}

const TABS = ["definition", "versions", "check"] as const;

function StoredAgent({ id }: { readonly id: string }) {
  const [params, setParams] = useSearchParams();
  const version = Number(params.get("version") ?? "") || undefined;
  const { data, error, refetch } = useQuery({
    queryKey: ["agents", "one", id, version],
    queryFn: () => api.agents.get(id, version === undefined ? {} : { version }),
  });
  const mayWrite = useMay("admin");
  const isEditing = params.get("edit") !== null && mayWrite;
  const show = (changes: Readonly<Record<string, string | undefined>>): void =>
    setParams((before) => {
      for (const [name, value] of Object.entries(changes))
        if (value === undefined) before.delete(name);
        else before.set(name, value);
      return before;
    });
  if (data === undefined)
    return (
      <Page title="Agent" about={<BackLink />}>
        {error === null && <Loading />}
        {isRefused(error, 404) ? (
          <Empty title="Agent not found">{error.message}</Empty>
        ) : (
          error !== null && <Problem thrown={error} title="Could not load the agent" onRetry={() => void refetch()} />
        )}
      </Page>
    );
  if (isEditing)
    return (
      <Page title={`Edit ${data.name}`} about={<BackLink />}>
        <AgentEditor
          agent={data}
          onSaved={(saved) => {
            tell(`Saved version ${saved.version} of ${saved.name}.`);
            show({ edit: undefined, version: undefined });
          }}
          onCancel={() => show({ edit: undefined })}
        />
      </Page>
    );
  const tab = TABS.find((one) => one === params.get("tab")) ?? "definition";
  return (
    <Page title={data.name} about={<About agent={data} />} actions={<Actions agent={data} show={show} />}>
      {version !== undefined && (
        <p className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken px-3 py-2 text-sm">
          You are viewing version {version}.
          <Button small onClick={() => show({ version: undefined })}>
            Show the newest
          </Button>
        </p>
      )}
      <Tabs
        isInPage
        label="Agent"
        value={tab}
        onChange={(chosen) => show({ tab: chosen === "definition" ? undefined : chosen })}
        tabs={[
          { id: "definition", label: "Definition", content: <DefinitionView definition={data.definition} /> },
          {
            id: "versions",
            label: "Versions",
            content: <VersionsView id={id} onShow={(chosen) => show({ version: chosen, tab: undefined })} />,
          },
          { id: "check", label: "Check", content: <CheckView agent={data} /> },
        ]}
      />
    </Page>
  );
}

function BackLink() {
  return (
    <Link href="/agents" className="inline-flex items-center gap-1 text-accent hover:underline">
      <ArrowLeft className="size-3.5" aria-hidden />
      All agents
    </Link>
  );
}

function About({ agent }: { readonly agent: WireAgent }) {
  const { description, version, updated_at: at, archived_at: archived, id } = agent;
  return (
    <span className="flex flex-col gap-1">
      {description !== null && description !== "" && (
        <span dir="auto" className="break-words">
          {description}
        </span>
      )}
      <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs">
        <BackLink />
        <Pill tone="accent">version {version}</Pill>
        {archived !== null && <Pill tone="quiet">archived</Pill>}
        <span>
          changed <Ago at={at} />
        </span>
        <code className="font-mono break-all text-faint">{id}</code>
      </span>
    </span>
  );
}

function Actions({
  agent,
  show,
}: {
  readonly agent: WireAgent;
  readonly show: (changes: Readonly<Record<string, string | undefined>>) => void;
}) {
  const [, navigate] = useLocation();
  const mayStart = useMay("operator");
  const mayWrite = useMay("admin");
  const isArchived = agent.archived_at !== null;
  const copy = (format: "yaml" | "json"): void => {
    navigator.clipboard.writeText(fileText(agent.definition, format)).then(
      () => tell(`Copied. Save it as agent.${format} to use it as an agent file.`),
      (thrown: unknown) => tellProblem(thrown),
    );
  };
  return (
    <>
      <Menu trigger={<Button icon={<Copy className="size-4" />}>Copy</Button>}>
        <MenuItem onSelect={() => copy("yaml")}>As an agent file, YAML</MenuItem>
        <MenuItem onSelect={() => copy("json")}>As an agent file, JSON</MenuItem>
      </Menu>
      {mayWrite && (
        <Button
          icon={<Pencil className="size-4" />}
          disabled={isArchived}
          title={isArchived ? "Archived agents are read-only" : undefined}
          onClick={() => show({ edit: "", version: undefined })}
        >
          Edit
        </Button>
      )}
      {mayStart && (
        <Button
          look="primary"
          icon={<Play className="size-4" />}
          disabled={isArchived}
          title={isArchived ? "Archived agents cannot start sessions" : undefined}
          onClick={() => navigate(`/new?agent=${encodeURIComponent(agent.id)}`)}
        >
          Start session
        </Button>
      )}
    </>
  );
}
