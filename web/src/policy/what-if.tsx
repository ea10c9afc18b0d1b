import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { CapstanApiError } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Field, Input, Select, TextArea } from "../parts/form/field.tsx";
import { Card } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { AgentChoice, useAgents, useLastOwn } from "./agent-choice.tsx";
import { MODE_NAMES } from "./modes.tsx";
import { problemsByList, rulesOf, type Trial } from "./replay-changes.ts";
import { ReplayView } from "./replay-view.tsx";
import type { Permissions } from "./rules-view.tsx";

const LISTS = [
  { name: "deny", hint: "Never runs." },
  { name: "ask", hint: "Needs approval." },
  { name: "allow", hint: "Runs without asking." },
] as const;

const NOTHING: Trial = { mode: "", allow: "", ask: "", deny: "" };

/** Replays recorded decisions against different rules. */
export function WhatIf() {
  const [trial, setTrial] = useState(NOTHING);
  const [agent, setAgent] = useState("");
  const [since, setSince] = useState("");
  const [session, setSession] = useState("");
  const { data: agents = [] } = useAgents();
  const { data: own } = useLastOwn();
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      api.replayPolicy({
        permissions: rulesOf(trial),
        ...(session.trim() !== "" && { session_id: session.trim() }),
        ...(since !== "" && { since: new Date(since).toISOString() }),
      }),
  });
  const told = error instanceof CapstanApiError ? error.details["problems"] : undefined;
  const problems = problemsByList(Array.isArray(told) ? told.map(String) : []);
  const start = agent === "" ? own?.agent.permissions : agents.find(({ id }) => id === agent)?.definition.permissions;
  return (
    <div className="flex flex-col gap-4 pt-2">
      <p className="text-sm text-muted">
        Replay this project&apos;s recorded decisions, with their commands and paths, against different rules. These
        rules replace all others. Nothing is executed or changed.
      </p>
      <Card className="p-3">
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            mutate();
          }}
        >
          <div className="flex flex-wrap items-end gap-3">
            <div className="min-w-0 flex-1 basis-52">
              <AgentChoice value={agent} onChoose={setAgent} />
            </div>
            <Button disabled={start === undefined} onClick={() => start && setTrial(trialOf(start))}>
              Start with its rules
            </Button>
          </div>
          <div className="grid gap-3 md:grid-cols-3">
            {LISTS.map(({ name, hint }) => (
              <Field key={name} label={name} hint={`${hint} One rule per line.`} problem={problems[name]}>
                <TextArea
                  rows={5}
                  spellCheck={false}
                  className="font-mono text-xs"
                  placeholder={name === "deny" ? "Bash(rm *)" : undefined}
                  value={trial[name]}
                  onChange={(event) => setTrial({ ...trial, [name]: event.target.value })}
                />
              </Field>
            ))}
          </div>
          <div className="grid gap-3 sm:grid-cols-3">
            <Field label="Mode" problem={problems["mode"]}>
              <Select value={trial.mode} onChange={(event) => setTrial({ ...trial, mode: event.target.value })}>
                <option value="">As recorded</option>
                {MODE_NAMES.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </Select>
            </Field>
            <Field label="Since" hint="Leave empty for all.">
              <Input type="datetime-local" value={since} onChange={(event) => setSince(event.target.value)} />
            </Field>
            <Field label="Session" hint="Leave empty for all sessions of the project.">
              <Input
                className="font-mono"
                placeholder="sesn_…"
                spellCheck={false}
                value={session}
                onChange={(event) => setSession(event.target.value)}
              />
            </Field>
          </div>
          <Button type="submit" look="primary" className="self-start" disabled={isPending}>
            {isPending ? "Replaying…" : "Replay"}
          </Button>
        </form>
      </Card>
      {error !== null && Object.keys(problems).length === 0 && (
        <Problem thrown={error} title="Could not replay these rules" />
      )}
      {data !== undefined && error === null && <ReplayView replay={data} />}
    </div>
  );
}

function trialOf({ mode, allow, ask, deny }: Permissions): Trial {
  const asked = ask.map((entry) => (typeof entry === "string" ? entry : entry.rule));
  return { mode, allow: allow.join("\n"), ask: asked.join("\n"), deny: deny.join("\n") };
}
