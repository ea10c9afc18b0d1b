import { askedCalls, type OpenCall, type SessionState } from "./state.ts";

/** Where the lines of a session stand while people are asked; all of it read off the state. */

/** A line of a session: a subagent's thread, or null for the primary one. */
export type Line = string | null;

/** Calls of a line that nobody has decided, in the order the model made them. */
export function undecidedCalls(state: SessionState, line: Line): readonly (readonly [string, OpenCall])[] {
  return Object.entries(state.openCalls).filter(([, call]) => call.threadId === line && call.decision === "none");
}

/** The primary line and every subagent at work; a subagent stands before the line that waits for it. */
export function openLines(state: SessionState): readonly Line[] {
  const running = Object.keys(state.threads).filter((id) => state.threads[id]?.status === "running");
  const depth = (id: string): number => {
    const parent = state.threads[id]?.parentThreadId ?? null;
    return parent === null ? 1 : depth(parent) + 1;
  };
  return [...running.toSorted((a, b) => depth(b) - depth(a)), null];
}

/**
 * Whether nothing moves until a person answers: every line either has a question open or waits for a subagent, and no
 * call runs. Whether a model is being asked right now is for the caller to know.
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

/** Calls that a person was asked about, and those that run and whose server asks a person. */
export function callsThatWait(state: SessionState): readonly (readonly [callId: string, call: OpenCall])[] {
  return [...askedCalls(state), ...elicitingCalls(state)];
}

/** Calls that run while their server asks a person: they are over when their process is. */
export function elicitingCalls(state: SessionState): readonly (readonly [callId: string, call: OpenCall])[] {
  return Object.entries(state.openCalls).filter(([, call]) => call.elicitations !== undefined);
}

/** Calls that wait for a subagent at work. */
export function delegatingCalls(state: SessionState): readonly string[] {
  return Object.values(state.threads).flatMap(({ status, callId }) => (status === "running" ? [callId] : []));
}
