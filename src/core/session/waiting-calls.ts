import { askedCalls, type OpenCall, type SessionState } from "./state.ts";

/** What the threads of a session wait for while people are asked, derived from the state. */

/** A thread of a session: a subagent's, or null for the primary one. */
export type ThreadRef = string | null;

/** Undecided calls of a thread, in the order the model made them. */
export function undecidedCalls(state: SessionState, line: ThreadRef): readonly (readonly [string, OpenCall])[] {
  return Object.entries(state.openCalls).filter(([, call]) => call.threadId === line && call.decision === "none");
}

/** The primary thread and every working subagent; a subagent comes before the thread that waits for it. */
export function openLines(state: SessionState): readonly ThreadRef[] {
  const running = Object.keys(state.threads).filter((id) => state.threads[id]?.status === "running");
  const depth = (id: string): number => {
    const parent = state.threads[id]?.parentThreadId ?? null;
    return parent === null ? 1 : depth(parent) + 1;
  };
  return [...running.toSorted((a, b) => depth(b) - depth(a)), null];
}

/**
 * Whether nothing happens until a person answers: every thread has an open question or waits for a subagent, and no
 * call runs. The caller knows whether a model request is running.
 */
export function standsStill(state: SessionState): boolean {
  const waiting = new Set(callsThatWait(state).map(([callId]) => callId));
  if (waiting.size === 0) return false;
  const calls = Object.entries(state.openCalls);
  const delegating = new Set(delegatingCalls(state));
  const runs = ([callId, call]: readonly [string, OpenCall]): boolean =>
    call.decision !== "none" && !delegating.has(callId) && !waiting.has(callId);
  if (calls.some(runs)) return false;
  return openLines(state).every((line) =>
    calls.some(([callId, call]) => call.threadId === line && (delegating.has(callId) || waiting.has(callId))),
  );
}

/** Calls that a person was asked about, and running calls whose server asks a person. */
export function callsThatWait(state: SessionState): readonly (readonly [callId: string, call: OpenCall])[] {
  return [...askedCalls(state), ...elicitingCalls(state)];
}

/** Running calls whose server asks a person: they end with their process. */
export function elicitingCalls(state: SessionState): readonly (readonly [callId: string, call: OpenCall])[] {
  return Object.entries(state.openCalls).filter(([, call]) => call.elicitations !== undefined);
}

/** Calls that wait for a working subagent. */
export function delegatingCalls(state: SessionState): readonly string[] {
  return Object.values(state.threads).flatMap(({ status, callId }) => (status === "running" ? [callId] : []));
}
