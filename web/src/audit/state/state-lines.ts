import type { WireState } from "../../../../src/client/index.ts";
import { STOPS } from "../summary.ts";
import { count, preciseMoney, thousands } from "../../../../src/words/amounts.ts";

/** One value of a state, and the previous value if it differs. */
export interface StateLine {
  readonly name: string;
  readonly values: readonly string[];
  readonly was?: readonly string[];
}

/** A state in words, with what changed since the previous one. */
export function stateLines(state: WireState, before: WireState | undefined): StateLine[] {
  const earlier = before === undefined ? undefined : new Map(wordsOf(before));
  return wordsOf(state).map(([name, values]) => {
    const was = earlier?.get(name);
    const isSame = was === undefined || was.join("\n") === values.join("\n");
    return { name, values, ...(!isSame && { was }) };
  });
}

type Words = readonly [name: string, values: readonly string[]];

function wordsOf(state: WireState): Words[] {
  const { usage, files, open_calls: calls } = state;
  const cached = usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  const waiting = calls.filter(({ approval_id: id, decision }) => id !== undefined && decision === "none");
  return [
    ["Status", [state.status]],
    ["Last turn", state.stop_reason === null ? [] : [STOPS[state.stop_reason.type]]],
    ["Turns", [exact(state.turns)]],
    ["Tool calls", [exact(state.tool_calls)]],
    ["Spent", [spendingText(state)]],
    ["Tokens", [`${exact(usage.input_tokens)} in, ${exact(usage.output_tokens)} out, ${exact(cached)} cached`]],
    ["Model", asList(state.model)],
    ["Mode", asList(state.mode)],
    ["Limits", state.budget === null ? [] : limits(state.budget)],
    ["Open calls", calls.map(({ name, decision }) => `${name}, ${DECISIONS[decision]}`)],
    ["Waiting for", waiting.map(({ name, approval_id: id }) => `approval of ${name} (${id})`)],
    ["Subagents", state.threads.map(({ agent_name: name, status }) => `${name}, ${status}`)],
    ["Workspace", files.removed ? ["removed"] : files.workspace === null ? [] : [workspaceText(files.workspace)]],
    ["Checkpoint", asList(files.last?.id)],
  ];
}

const DECISIONS = { none: "not decided", allowed: "allowed", denied: "denied" } as const;

function asList(value: string | null | undefined): string[] {
  return value === null || value === undefined ? [] : [value];
}

/** Not rounded: that could hide what one event adds. */
function exact(count: number): string {
  return thousands(count);
}

function spendingText({ usd, unpriced_requests: unpriced }: WireState): string {
  const sum = preciseMoney(usd);
  return unpriced === 0 ? sum : `${sum}, plus ${count(unpriced, "request")} of unknown price`;
}

function limits(budget: NonNullable<WireState["budget"]>): string[] {
  return Object.entries(budget).map(([name, limit]) => `${name.replaceAll("_", " ")}: ${String(limit)}`);
}

function workspaceText({ kind, cwd }: NonNullable<WireState["files"]["workspace"]>): string {
  return `${kind}, ${cwd}`;
}
