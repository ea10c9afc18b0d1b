import type { WireApproval } from "../../../../src/client/index.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";

/** More than this are combined into one notification. */
const ONE_BY_ONE = 3;

export interface BrowserNotice {
  readonly title: string;
  readonly body: string;
  /** The same in every window of this browser, so that the notification appears once. */
  readonly tag: string;
  /** The page that a click opens. */
  readonly path: string;
}

export function noticesOf(fresh: readonly WireApproval[]): readonly BrowserNotice[] {
  if (fresh.length > ONE_BY_ONE) {
    const agents = [...new Set(fresh.map(({ agent }) => agent))].join(", ");
    return [
      {
        title: `${fresh.length} approvals needed`,
        body: escapeHidden(agents),
        tag: fresh.at(-1)?.id ?? "",
        path: "/approvals",
      },
    ];
  }
  return fresh.map(({ id, agent, request: { kind, title } }) => ({
    title: {
      tool: "Approval needed",
      plan: "Plan to approve",
      question: "Question from an agent",
      custom_tool: "Tool result needed",
    }[kind],
    body: escapeHidden(`${agent}: ${title}`),
    tag: id,
    path: `/approvals?open=${encodeURIComponent(id)}`,
  }));
}

/** Whether the person already sees it: the inbox or the session is open and focused. */
export function isSeen({ session_id }: WireApproval, { path, hasFocus }: { path: string; hasFocus: boolean }): boolean {
  return hasFocus && (path === "/approvals" || path === `/sessions/${session_id}`);
}
