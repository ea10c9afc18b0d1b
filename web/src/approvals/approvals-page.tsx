import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { cx } from "../parts/cx.ts";
import { Page } from "../parts/page.tsx";
import { AnsweredList } from "./answered-list.tsx";
import { NotifyButton } from "./notify/notify-button.tsx";
import { usePendingApprovals } from "./pending.ts";
import { WaitingList } from "./waiting-list.tsx";

/** Approvals from all sessions. */
export function ApprovalsPage() {
  const count = usePendingApprovals().length;
  const [search] = useSearchParams();
  const isAnswered = search.get("show") === "answered";
  return (
    <Page
      title="Approvals"
      about="Questions from agents, and actions that need your approval."
      actions={<NotifyButton />}
    >
      <nav aria-label="Which approvals" className="flex gap-1 border-b border-line">
        <Choice href="/approvals" isOn={!isAnswered}>
          Waiting{count === 0 ? "" : ` (${count})`}
        </Choice>
        <Choice href="/approvals?show=answered" isOn={isAnswered}>
          Answered
        </Choice>
      </nav>
      {isAnswered ? <AnsweredList /> : <WaitingList />}
    </Page>
  );
}

function Choice({ href, isOn, children }: { href: string; isOn: boolean; children: ReactNode }) {
  return (
    <Link
      href={href}
      aria-current={isOn ? "page" : undefined}
      className={cx(
        "-mb-px flex h-9 items-center border-b-2 px-2 text-sm font-medium max-md:h-11",
        isOn ? "border-accent text-text" : "border-transparent text-muted hover:text-text",
      )}
    >
      {children}
    </Link>
  );
}
