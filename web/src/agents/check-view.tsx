import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { WireAgent, WireAgentCheck, WireServerCheck } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Loading } from "../parts/loading.tsx";
import { Card, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Pill } from "../parts/tone.tsx";

/** Checks the agent on this server: what would keep a session from starting, and whether its MCP servers respond. */
export function CheckView({ agent: { id, version, definition } }: { readonly agent: WireAgent }) {
  const mayCheck = useMay("operator");
  // Leaving the page stops the programs.
  const leaving = useRef(new AbortController());
  useEffect(() => {
    leaving.current = new AbortController();
    const { current } = leaving;
    return () => current.abort();
  }, []);
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => api.agents.check(id, { version, signal: leaving.current.signal }),
  });
  const servers = Object.keys(definition.mcp_servers ?? {}).length;
  return (
    <div className="flex flex-col gap-4 pt-2">
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" disabled={!mayCheck || isPending} onClick={() => mutate()}>
          {data === undefined ? "Check" : "Check again"}
        </Button>
        <p className="min-w-0 flex-1 basis-64 text-sm text-muted">
          {mayCheck
            ? `Checks whether version ${version} can start a session on this server${servers === 0 ? "" : `, and connects to its ${servers === 1 ? "MCP server" : `${servers} MCP servers`}`}. No model requests are made.`
            : "A check starts programs on the server, so it requires the operator role. Your role is read-only."}
        </p>
      </div>
      {isPending && <Loading label={servers === 0 ? "Checking" : "Connecting to its MCP servers (up to a minute)"} />}
      {error !== null && !isPending && <Problem thrown={error} title="The check failed" />}
      {data !== undefined && !isPending && <Found check={data} />}
    </div>
  );
}

function Found({ check: { valid, problems, notes, mcp_servers: servers } }: { readonly check: WireAgentCheck }) {
  return (
    <div role="status" className="flex flex-col gap-4">
      <p className="flex items-center gap-2 text-sm">
        <Pill tone={valid ? "good" : "bad"}>{valid ? "works here" : "does not work here"}</Pill>
        {valid && problems.length === 0 && "Sessions can start."}
      </p>
      {problems.length > 0 && <Sentences title="Problems" texts={problems} />}
      {notes.length > 0 && <Sentences title="Notes" texts={notes} />}
      {servers.length > 0 && (
        <Section title="MCP servers">
          <Card className="divide-y divide-line">
            {servers.map((server) => (
              <Server key={server.name} server={server} />
            ))}
          </Card>
        </Section>
      )}
    </div>
  );
}

function Sentences({ title, texts }: { readonly title: string; readonly texts: readonly string[] }) {
  return (
    <Section title={title}>
      <Card className="p-3">
        <ul className="flex list-disc flex-col gap-1 pl-4 text-sm break-words">
          {texts.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      </Card>
    </Section>
  );
}

function Server({ server: { name, type, connected, error, tools } }: { readonly server: WireServerCheck }) {
  return (
    <div className="flex flex-col gap-2 p-3">
      <p className="flex flex-wrap items-center gap-2 text-sm">
        <span className="font-mono text-xs font-medium break-all">{name}</span>
        <span className="text-muted">{type}</span>
        <Pill tone={connected && error === null ? "good" : "bad"}>
          {connected ? (error === null ? "connected" : "connected, but not usable") : "not reachable"}
        </Pill>
        {connected && <span className="text-muted">{tools.length === 1 ? "1 tool" : `${tools.length} tools`}</span>}
      </p>
      {error !== null && <p className="text-sm break-words whitespace-pre-wrap text-bad">{error}</p>}
      {tools.length > 0 && (
        <ul aria-label={`Tools of ${name}`} className="flex flex-wrap gap-1.5">
          {tools.map((tool) => (
            <li key={tool} className="max-w-full rounded-sm bg-sunken px-1.5 font-mono text-xs leading-5 break-all">
              {tool}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
