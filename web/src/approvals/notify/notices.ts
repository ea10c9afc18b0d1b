import type { WireApproval } from "../../../../src/client/index.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";

/** More of them at once are told in one. */
const ONE_BY_ONE = 3;

export interface Notice {
  readonly title: string;
  readonly body: string;
  /** The same in every window of this browser, so that it is shown once. */
  readonly tag: string;
  /** Where a click leads. */
  readonly path: string;
}

export function noticesOf(fresh: readonly WireApproval[]): readonly Notice[] {
  if (fresh.length > ONE_BY_ONE) {
    const agents = [...new Set(fresh.map(({ agent }) => agent))].join(", ");
    return [
      {
        title: `${fresh.length} approvals wait`,
        body: escapeHidden(agents),
        tag: fresh.at(-1)?.id ?? "",
        path: "/approvals",
      },
    ];
  }
  return fresh.map(({ id, agent, request: { kind, title } }) => ({
    title: {
      tool: "May it run?",
      plan: "A plan to approve",
      question: "A question",
      custom_tool: "A result is needed",
    }[kind],
    body: escapeHidden(`${agent}: ${title}`),
    tag: id,
    path: `/approvals?open=${encodeURIComponent(id)}`,
  }));
}

/** Whether somebody sees them come anyway: the inbox is before their eyes, or the session that asks. */
export function isSeen({ session_id }: WireApproval, { path, hasFocus }: { path: string; hasFocus: boolean }): boolean {
  return hasFocus && (path === "/approvals" || path === `/sessions/${session_id}`);
}
