import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import type { SessionInput, WireAgent } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Field, Input, Select, TextArea } from "../parts/form/field.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { MODE_NAMES, MODE_WORDS, type Mode } from "../policy/modes.tsx";
import { ENGINE_NAMES, ENGINES, type EngineName } from "../session/engines.ts";
import { TrustHint } from "../trust/trust-hint.tsx";
import { AgentInputs } from "./agent-inputs.tsx";
import { money } from "../../../src/words/amounts.ts";

/** Starts a session. Only the message is required; the rest defaults to the agent's or project's values. */
export function NewSessionPage() {
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const mayStart = useMay("operator");
  const [message, setMessage] = useState(search.get("message") ?? "");
  const [agentId, setAgentId] = useState(search.get("agent") ?? "");
  const [environmentId, setEnvironmentId] = useState("");
  const [cwd, setCwd] = useState("");
  const [model, setModel] = useState("");
  const [engine, setEngine] = useState<EngineName | "">("");
  const [mode, setMode] = useState<Mode | "">("");
  const [limit, setLimit] = useState("");
  const [title, setTitle] = useState("");
  const [inputs, setInputs] = useState<NonNullable<SessionInput["inputs"]>>({});
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const { data: agents = [] } = useQuery({
    queryKey: ["agents", "newest"],
    queryFn: () => api.agents.list({ limit: 100 }),
    staleTime: 0,
  });
  const { data: environments = [] } = useQuery({
    queryKey: ["environments"],
    queryFn: () => api.environments.list({ limit: 100 }),
  });
  const { data: models = [] } = useQuery({ queryKey: ["models"], queryFn: () => api.models(), staleTime: 300_000 });
  const { data: projects } = useQuery({ queryKey: ["projects"], queryFn: () => api.projects() });
  const agent = agents.find(({ id }) => id === agentId);
  const amount = Number(limit);
  const limitProblem = limit !== "" && !(amount > 0) ? "Enter an amount above 0, such as 2.50." : undefined;

  const start = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy || limitProblem !== undefined) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const session = await api.sessions.create({
        ...(agentId !== "" && { agent: { id: agentId } }),
        ...(environmentId !== "" && { environment_id: environmentId }),
        ...(cwd.trim() !== "" && { cwd: cwd.trim() }),
        ...(engine !== "" && { engine }),
        ...(model !== "" && { model }),
        ...(mode !== "" && { mode }),
        ...(limit !== "" && { budget: { usd: amount } }),
        ...(title.trim() !== "" && { title: title.trim() }),
        ...(Object.keys(inputs).length > 0 && { inputs }),
        ...(message.trim() !== "" && { message }),
      });
      await queries.invalidateQueries({ queryKey: ["sessions"] });
      navigate(`/sessions/${session.id}`);
    } catch (thrown) {
      setFailure(thrown);
      setBusy(false);
    }
  };
  if (!mayStart)
    return (
      <Page title="New session">
        <Empty title="Your role is read-only">Starting sessions requires a key with the operator or admin role.</Empty>
      </Page>
    );
  return (
    <Page title="New session" about="Only the message is required. Empty fields use the agent's or project's defaults.">
      <TrustHint />
      <form onSubmit={(event) => void start(event)} className="flex max-w-3xl flex-col gap-4">
        <Field label="First message" hint="Press Ctrl Enter to start.">
          <TextArea
            dir="auto"
            autoFocus
            rows={5}
            value={message}
            placeholder="What should the agent do?"
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void start(event)}
            className="text-base"
          />
        </Field>
        <Card className="grid gap-4 p-4 sm:grid-cols-2">
          <Field label="Agent" hint={agent?.description ?? "Which agent to run."}>
            <Select value={agentId} onChange={(event) => (setAgentId(event.target.value), setInputs({}))}>
              <option value="">Project default</option>
              {agents.map(({ id, name, version }) => (
                <option key={id} value={id}>
                  {name} (version {version})
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Environment" hint="Where the agent works: a directory, a git worktree or a copy.">
            <Select value={environmentId} onChange={(event) => setEnvironmentId(event.target.value)}>
              <option value="">Project directory</option>
              {environments.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Directory" hint="A path on the server's machine.">
            <Input
              dir="ltr"
              value={cwd}
              placeholder={projects?.[0]?.directory ?? ""}
              onChange={(event) => setCwd(event.target.value)}
            />
          </Field>
          <Field label="Model">
            <Select value={model} onChange={(event) => setModel(event.target.value)}>
              <option value="">Agent default{agent === undefined ? "" : ` (${agent.definition.model})`}</option>
              {models.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </Select>
          </Field>
          <Field label="Engine" hint={engine === "" ? "What runs the agent." : `This is ${ENGINES[engine]}.`}>
            <Select value={engine} onChange={(event) => setEngine(event.target.value as EngineName | "")}>
              <option value="">Agent default{engineText(agent)}</option>
              {ENGINE_NAMES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          </Field>
          <Field
            label="Mode"
            hint={mode === "" ? "What the agent may do without asking." : `In this mode, ${MODE_WORDS[mode]}.`}
          >
            <Select value={mode} onChange={(event) => setMode(event.target.value as Mode | "")}>
              <option value="">
                Agent default{agent === undefined ? "" : ` (${agent.definition.permissions.mode})`}
              </option>
              {MODE_NAMES.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </Select>
          </Field>
          <Field label="Limit in USD" problem={limitProblem} hint={limitHint(agent)}>
            <Input inputMode="decimal" value={limit} onChange={(event) => setLimit(event.target.value)} />
          </Field>
          <Field label="Title">
            <Input dir="auto" maxLength={500} value={title} onChange={(event) => setTitle(event.target.value)} />
          </Field>
        </Card>
        {agent?.definition.inputs !== undefined && (
          <AgentInputs inputs={agent.definition.inputs} values={inputs} onChange={setInputs} />
        )}
        {failure !== undefined && <Problem title="Could not start the session" thrown={failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={() => navigate("/")}>Cancel</Button>
          <Button type="submit" look="primary" disabled={isBusy}>
            {isBusy ? "Starting…" : "Start"}
          </Button>
        </div>
      </form>
    </Page>
  );
}

function limitHint(agent: WireAgent | undefined): string {
  const own = agent?.definition.budget.usd;
  return own === undefined ? "Leave empty for no session limit." : `Leave empty for the agent’s limit, ${money(own)}.`;
}

function engineText(agent: WireAgent | undefined): string {
  return agent?.definition.engine === undefined ? "" : ` (${agent.definition.engine})`;
}
