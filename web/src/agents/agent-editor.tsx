import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { type AgentInput, CapstanApiError, type WireAgent } from "../../../src/client/index.ts";
import { api, isRefused, problemOf, queries } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { diffOf, DiffView } from "../parts/text/diff-view.tsx";
import { Field, Input, TextArea } from "../parts/form/field.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { definitionText, locateProblem, readText, type TextProblem } from "./agent-text.ts";
import { ProblemList } from "./problem-list.tsx";
import { Difference } from "./versions-view.tsx";

const TEMPLATE = `name: reviewer
description: Reviews the change in the working directory.
model: claude-sonnet-5
instructions: |
  Review the change in the working directory.
  Name the file and the line of every finding.
tools: [Read, Glob, Grep, Bash]
permissions:
  allow:
    - Bash(git diff *)
budget:
  usd: 2
`;

/** Creates an agent or a new version of one. Problems that the server finds are shown at their lines. */
export function AgentEditor({
  agent,
  onSaved,
  onCancel,
}: {
  readonly agent?: WireAgent;
  readonly onSaved: (saved: WireAgent) => void;
  readonly onCancel: () => void;
}) {
  const before = useMemo(() => (agent === undefined ? "" : definitionText(agent.definition)), [agent]);
  // A refetch must not replace what the person is writing.
  const [base, setBase] = useState(agent);
  const [original] = useState(before);
  const [text, setText] = useState(agent === undefined ? TEMPLATE : before);
  const [name, setName] = useState(agent === undefined || agent.name === agent.definition.name ? "" : agent.name);
  const [about, setAbout] = useState(agent?.description ?? "");
  const [own, setOwn] = useState<readonly TextProblem[]>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const isChanged = text !== original && text !== TEMPLATE;
  useWarning(isChanged);
  const saving = useMutation({
    mutationFn: async (definition: AgentInput) => {
      const shown = name.trim() === "" ? definition.name : name.trim();
      const words = { name: shown, ...(about.trim() !== "" && { description: about.trim() }) };
      if (base === undefined) return api.agents.create({ definition, ...words });
      const description = about.trim() === "" ? null : about.trim();
      return api.agents.update(base.id, { definition, name: shown, description, version: base.version });
    },
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      onSaved(saved);
    },
  });
  const save = (): void => {
    saving.reset();
    const read = readText(text);
    setOwn(read.problems ?? []);
    // The server reports what is wrong.
    if (read.problems === undefined) saving.mutate(read.definition as AgentInput);
  };
  const told = useMemo(() => problemsOf(saving.error, text), [saving.error, text]);
  const problems = own.length > 0 ? own : told;
  const isOutdated = isRefused(saving.error, 409);
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Display name" hint="Optional (default: the name in the definition).">
          <Input dir="auto" value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label="Description" hint="What it is for, in one sentence.">
          <Input dir="auto" value={about} onChange={(event) => setAbout(event.target.value)} />
        </Field>
      </div>
      <Field
        label="Definition"
        hint="YAML or JSON, with the fields of an agent file. File references are not supported here; paste the contents inline."
        problem={problems.length > 0 ? "The definition was not saved. See the problems below." : undefined}
      >
        <TextArea
          ref={area}
          rows={Math.min(40, Math.max(16, text.split("\n").length + 1))}
          spellCheck={false}
          autoCapitalize="off"
          className="overflow-x-auto font-mono text-xs whitespace-pre"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      {problems.length > 0 && <ProblemList problems={problems} area={area} />}
      {saving.error !== null && problems.length === 0 && !isOutdated && (
        <Problem thrown={saving.error} title="The agent was not saved" />
      )}
      {isOutdated && base !== undefined && (
        <Outdated
          base={base}
          onTakeOver={(newest) => {
            saving.reset();
            setBase(newest);
          }}
        />
      )}
      <div className="flex flex-wrap items-center gap-2">
        <Button type="submit" look="primary" disabled={saving.isPending}>
          {base === undefined ? "Save agent" : `Save as version ${base.version + 1}`}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
        <p className="text-xs text-muted">Existing sessions keep the version they started with.</p>
      </div>
      {agent !== undefined && isChanged && (
        <DiffView file={diffOf(`Your changes to version ${agent.version}`, original, text)} fold={60} />
      )}
    </form>
  );
}

/** The server's messages about single fields. Messages without a field stay with the error. */
function problemsOf(thrown: unknown, text: string): readonly TextProblem[] {
  if (!(thrown instanceof CapstanApiError) || thrown.status !== 400) return [];
  const { problems } = thrown.details;
  const told = Array.isArray(problems) ? problems.map(String) : [problemOf(thrown)];
  return told.map((one) => locateProblem(text, one));
}

/** Someone else saved first: shows their changes and how to continue. */
function Outdated({
  base,
  onTakeOver,
}: {
  readonly base: WireAgent;
  readonly onTakeOver: (newest: WireAgent) => void;
}) {
  const { data, error, refetch } = useQuery({
    queryKey: ["agents", "one", base.id, "newest"],
    queryFn: () => api.agents.get(base.id),
    staleTime: 0,
  });
  if (error !== null) return <Problem thrown={error} onRetry={() => void refetch()} />;
  return (
    <div role="alert" className="flex flex-col gap-3 rounded-lg border border-waiting/40 bg-waiting-soft p-3 text-sm">
      <p>
        <span className="font-medium text-waiting">Someone else saved another version.</span> You started from version{" "}
        {base.version}
        {data !== undefined && `, and ${data.version} is the newest`}. Nothing was overwritten. Below is what they
        changed. Copy what you want to keep, then save your version on top.
      </p>
      {data !== undefined && <Difference from={base} to={data} />}
      <Button className="self-start" disabled={data === undefined} onClick={() => data && onTakeOver(data)}>
        Keep my text and continue from the newest version
      </Button>
    </div>
  );
}

function useWarning(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isChanged]);
}
