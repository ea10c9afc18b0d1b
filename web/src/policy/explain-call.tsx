import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Field, Input, Select } from "../parts/form/field.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Card, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { AgentChoice, useAgents, useLastOwn } from "./agent-choice.tsx";
import { ExplanationView } from "./explanation-view.tsx";
import { type Mode, MODE_NAMES } from "./modes.tsx";
import { RulesView } from "./rules-view.tsx";

/** The rules of an agent, and how they would decide a call. */
export function ExplainCall() {
  const [agent, setAgent] = useState("");
  const [mode, setMode] = useState("");
  const [call, setCall] = useState("");
  const mayAsk = useMay("operator");
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      api.checkPolicy({
        call: call.trim(),
        ...(agent !== "" && { agent: { id: agent } }),
        ...(mode !== "" && { mode: mode as Mode }),
      }),
  });
  return (
    <div className="flex flex-col gap-6 pt-2">
      <Section title="Explain a call">
        <Card className="p-3">
          <form
            className="grid items-start gap-3 sm:grid-cols-2 lg:grid-cols-[2fr_1fr_1fr_auto]"
            onSubmit={(event) => {
              event.preventDefault();
              mutate();
            }}
          >
            <Field
              label="Call"
              hint={
                mayAsk ? "Nothing is executed." : "This requires the operator role. Your role can read the rules below."
              }
            >
              <Input
                className="font-mono"
                placeholder="Bash(rm -rf build)"
                spellCheck={false}
                disabled={!mayAsk}
                value={call}
                onChange={(event) => setCall(event.target.value)}
              />
            </Field>
            <AgentChoice value={agent} onChoose={setAgent} />
            <Field label="Mode">
              <Select value={mode} onChange={(event) => setMode(event.target.value)}>
                <option value="">Agent default</option>
                {MODE_NAMES.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </Select>
            </Field>
            <Button
              type="submit"
              look="primary"
              className="sm:mt-6"
              disabled={!mayAsk || isPending || call.trim() === ""}
            >
              Explain
            </Button>
          </form>
        </Card>
        {error !== null && <Problem thrown={error} title="Could not explain this call" />}
        {data !== undefined && error === null && <ExplanationView explanation={data} />}
      </Section>
      <Section title="Rules">
        <Rules agent={agent} />
      </Section>
    </div>
  );
}

function Rules({ agent }: { readonly agent: string }) {
  const { data: agents = [], error, refetch } = useAgents();
  const { data: session } = useLastOwn();
  const chosen = agents.find(({ id }) => id === agent);
  if (error !== null) return <Problem thrown={error} onRetry={() => void refetch()} />;
  return (
    <Card className="flex flex-col gap-3 p-3">
      {chosen !== undefined && (
        <p className="text-sm text-muted">
          Of{" "}
          <Link href={`/agents/${encodeURIComponent(chosen.id)}`} className="text-accent underline">
            <span dir="auto">{chosen.name}</span>
          </Link>
          , version {chosen.version}. Choose another agent above.
        </p>
      )}
      {chosen === undefined && (
        <p className="text-sm text-muted">
          The default agent comes from the project settings.{" "}
          <code className="font-mono text-xs">capstan config show</code> shows where each rule comes from.{" "}
          {session ? (
            <>
              These are the rules of the last{" "}
              <Link href={`/sessions/${encodeURIComponent(session.id)}`} className="text-accent underline">
                session with the default agent
              </Link>
              , which was started <Ago at={session.created_at} />.
            </>
          ) : (
            "Its rules appear here once a session has used it."
          )}
        </p>
      )}
      {chosen !== undefined && <RulesView permissions={chosen.definition.permissions} />}
      {chosen === undefined && session && <RulesView permissions={session.agent.permissions} />}
    </Card>
  );
}
