import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { LoggedEvent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { Problem } from "../parts/failure/problem.tsx";
import { Pill } from "../parts/tone.tsx";
import { AROUND, CALL_TYPES, type CallStory, storyOf } from "./call-story.ts";
import { duration } from "../../../src/words/amounts.ts";

/** Who decided about a call, by which rule, and a person's answer. */
export function CallView({ id, event }: { readonly id: string; readonly event: LoggedEvent }) {
  const { seq } = event;
  const { data, error, refetch } = useQuery({
    queryKey: ["session", id, "call", seq],
    queryFn: async () => {
      const query = { after: Math.max(0, seq - AROUND), limit: AROUND * 2, types: CALL_TYPES.join(","), clip: 1_000 };
      return (await api.sessions.page(id, query)).data;
    },
  });
  if (error !== null) return <Problem title="Could not load the call" thrown={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  return <Story id={id} story={storyOf(event, data)} />;
}

function Story({ id, story }: { readonly id: string; readonly story: CallStory }) {
  const { use, hooks, asked, answer, decision, end } = story;
  const at = (event: LoggedEvent): ReactNode => <At id={id} seq={event.seq} />;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1 px-1.5 text-sm [&_dd]:min-w-0 [&_dd]:break-words [&_dt]:text-muted">
      {use !== undefined && (
        <Fact name="Call" at={at(use)}>
          {use.name}
        </Fact>
      )}
      {hooks.map((hook) => (
        <Fact key={hook.id} name="Hook" at={at(hook)}>
          {hook.name} {hook.outcome} in {duration(hook.duration_ms)}
          {hook.message !== undefined && <Quoted>{hook.message}</Quoted>}
        </Fact>
      ))}
      {asked !== undefined && (
        <Fact name="Approval required by" at={at(asked)}>
          <code className="font-mono text-xs">{asked.asked_by}</code>
          {asked.agent !== undefined && <>, for subagent {asked.agent}</>}
          <Quoted>{asked.reason}</Quoted>
        </Fact>
      )}
      {answer !== undefined && (
        <Fact name="Answer" at={at(answer)}>
          <Pill tone={answer.result === "allow" ? "good" : "bad"}>
            {answer.result === "allow" ? "allowed" : "denied"}
          </Pill>{" "}
          by {answer.by ?? "someone"}
          {answer.from !== undefined && <>, from {answer.from}</>}
          {answer.scope !== undefined && <>, scope: {answer.scope}</>}
          {answer.rules !== undefined && answer.rules.length > 0 && (
            <span className="block font-mono text-xs">{answer.rules.join(", ")}</span>
          )}
          {typeof answer.deny_message === "string" && <Quoted>{answer.deny_message}</Quoted>}
        </Fact>
      )}
      {decision !== undefined && (
        <Fact name="Decision" at={at(decision)}>
          <Pill tone={decision.decision === "allow" ? "good" : "bad"}>
            {decision.decision === "allow" ? "allowed" : "denied"}
          </Pill>{" "}
          by <code className="font-mono text-xs">{decision.decided_by}</code>
          {decision.mode !== undefined && <>, in mode {decision.mode}</>}
          <Quoted>{decision.reason}</Quoted>
          {decision.input !== undefined && <span className="block">The input was changed before it ran.</span>}
        </Fact>
      )}
      <Fact name="Outcome" at={end === undefined ? null : at(end)}>
        {end?.outcome ?? `none within ${AROUND} events`}
      </Fact>
    </dl>
  );
}

function Fact({ name, at, children }: { readonly name: string; readonly at: ReactNode; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        {children} {at}
      </dd>
    </>
  );
}

function Quoted({ children }: { readonly children: string }) {
  return (
    <span dir="auto" className="block text-muted">
      {children}
    </span>
  );
}

function At({ id, seq }: { readonly id: string; readonly seq: number }) {
  return (
    <Link href={`/audit/${id}?seq=${seq}`} className="text-xs whitespace-nowrap text-accent hover:underline">
      event {seq}
    </Link>
  );
}
