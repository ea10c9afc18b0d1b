import type { ReactNode } from "react";
import { Link } from "wouter";
import type { WireSessionWithState } from "../../../../src/client/index.ts";
import { CopyButton } from "../../parts/text/code.tsx";
import { When } from "../../parts/figures/figures.tsx";
import { Price } from "../../parts/figures/price.tsx";
import { percent, thousands } from "../../../../src/words/amounts.ts";

/** The facts of a session. */
export function DetailsPanel({ session }: { readonly session: WireSessionWithState }) {
  const { state, agent, agent_ref, forked_from } = session;
  const { usage, files } = state;
  const told = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  const limit = state.budget?.usd ?? agent.budget.usd;
  const limits = Object.entries({ ...agent.budget, ...state.budget }).filter(
    ([name, value]) => name !== "usd" && value !== undefined,
  );
  return (
    <dl className="flex flex-col gap-2 text-sm">
      <Fact name="Session">
        <span className="flex items-center gap-1 font-mono text-xs">
          {session.id}
          <CopyButton text={session.id} label="Copy ID" />
        </span>
      </Fact>
      <Fact name="Agent">
        {agent_ref === null ? (
          agent.name
        ) : (
          <Link href={`/agents/${agent_ref.id}`} className="text-accent hover:underline">
            {agent.name}, version {agent_ref.version}
          </Link>
        )}
      </Fact>
      <Fact name="Engine">{session.engine}</Fact>
      <Fact name="Spent">
        <Price of={session} limit={limit} />
      </Fact>
      <Fact name="Tokens">
        <span data-figure>
          {thousands(told)} in, {thousands(usage.output_tokens)} out
          {told > 0 && `, ${percent(usage.cache_read_input_tokens / told)} from cache`}
        </span>
      </Fact>
      <Fact name="Work">
        <span data-figure>
          {state.turns} {state.turns === 1 ? "turn" : "turns"}, {state.tool_calls} tool{" "}
          {state.tool_calls === 1 ? "call" : "calls"}
        </span>
      </Fact>
      {limits.length > 0 && (
        <Fact name="Limits">
          {limits.map(([name, value]) => (
            <span key={name} data-figure className="block">
              {name.replaceAll("_", " ")}: {String(value)}
            </span>
          ))}
        </Fact>
      )}
      <Fact name="Workspace">
        {files.workspace?.kind ?? "in-place"}
        <span dir="ltr" className="block font-mono text-xs break-all text-muted">
          {session.cwd}
        </span>
        {files.workspace?.branch !== undefined && (
          <span className="block font-mono text-xs text-muted">branch {files.workspace.branch}</span>
        )}
        {(files.workspace?.notes ?? []).map((note) => (
          <span key={note} className="block text-xs text-muted">
            {note}
          </span>
        ))}
      </Fact>
      {forked_from !== null && (
        <Fact name="Forked from">
          <Link href={`/sessions/${forked_from.session_id}`} className="font-mono text-xs text-accent hover:underline">
            {forked_from.session_id}
          </Link>
        </Fact>
      )}
      <Fact name="Started">
        <When at={session.created_at} />
      </Fact>
      {Object.entries(session.metadata).map(([key, value]) => (
        <Fact key={key} name={key}>
          <span dir="auto">{value}</span>
        </Fact>
      ))}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="break-words">{children}</dd>
    </div>
  );
}
