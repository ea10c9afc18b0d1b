import { ArrowLeft } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { WireSessionWithState } from "../../../src/client/index.ts";
import { useTitle } from "../parts/page.tsx";
import { Price } from "../parts/figures/price.tsx";
import { Pill } from "../parts/tone.tsx";
import { SessionMenu } from "./session-menu.tsx";
import { nameOf } from "./session-name.ts";
import { statusOf } from "./session-status.ts";

export function SessionHeader({
  session,
  mayChange,
  children,
}: {
  readonly session: WireSessionWithState;
  readonly mayChange: boolean;
  readonly children: ReactNode;
}) {
  const name = nameOf(session);
  const { tone, label } = statusOf(session);
  const limit = session.state.budget?.usd ?? session.agent.budget.usd;
  useTitle(name);
  return (
    <header className="flex items-center gap-2 border-b border-line px-2 py-2 sm:px-4">
      <Link href="/" aria-label="All sessions" className="rounded-md p-1.5 text-muted hover:bg-sunken hover:text-text">
        <ArrowLeft className="size-4" />
      </Link>
      <div className="min-w-0 flex-1">
        <h1 dir="auto" className="truncate text-base font-semibold" title={name}>
          {name}
        </h1>
        {/* If there is no room for both, the agent wraps out of sight rather than to one letter. */}
        <p className="flex h-4 flex-row-reverse flex-wrap justify-end gap-x-2 overflow-hidden text-xs text-faint">
          <span className="shrink-0">
            <Price of={session} limit={limit} />
          </span>
          <span className="max-w-full truncate">{session.agent.name}</span>
        </p>
      </div>
      <span role="status" aria-label="Session status">
        <Pill tone={tone} dot={tone === "running"}>
          {label}
        </Pill>
      </span>
      <SessionMenu session={session} mayChange={mayChange} />
      {children}
    </header>
  );
}
