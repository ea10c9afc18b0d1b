/** Time and ids are injected, so that tests can fix both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The prefixes of the Managed Agents API. */
export type IdKind =
  | "sesn"
  | "sevt"
  | "host"
  | "appr"
  | "grnt"
  | "ckpt"
  | "rwnd"
  | "agent"
  | "env"
  | "file"
  | "key"
  | "whk"
  | "dlv"
  | "sesrsc"
  | "run";

export interface Ids {
  /** A new id such as `sevt_0192…`: the prefix and the 32 hex digits of a UUID, sortable by creation time. */
  next(kind: IdKind): string;
}

/** The UUID inside an id, in the dashed form that the Agent SDK needs for messages and sessions. */
export function uuidOf(id: string): string {
  const hex = id.slice(id.indexOf("_") + 1);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** The event id for a UUID created by `uuidOf`. */
export function eventIdOf(uuid: string): string {
  return `sevt_${uuid.replaceAll("-", "")}`;
}

/** The thread of a subagent, by its engine's id. Events of the primary thread have no thread id. */
export function threadId(sessionId: string, engineAgentId: string): string {
  return `sthr_${sessionId.slice(sessionId.indexOf("_") + 1)}_${engineAgentId}`;
}

/** The engine's id for the subagent of a thread. */
export function engineAgentIdOf(thread: string): string {
  return thread.slice(thread.indexOf("_", "sthr_".length) + 1);
}
