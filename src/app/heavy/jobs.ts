import type { Environment } from "../../config/project/home.ts";
import { archivePage } from "./jobs/archive-page.ts";
import { findSessions } from "./jobs/find-sessions.ts";
import { replayPolicy } from "./jobs/replay-policy.ts";
import { verifyLogs } from "./jobs/verify-logs.ts";

/** Where the store is that a job reads. */
export interface HeavyPlace {
  readonly home: string;
  /** Of the host's variables only those that say where something is. */
  readonly environment: Environment;
}

/**
 * What is done in a thread of its own, because it may keep everybody else waiting. A job reads what is stored and gives
 * what can be passed between threads. To add one, write its function in `jobs/`, and name it here.
 */
export const JOBS = { archivePage, findSessions, replayPolicy, verifyLogs };

export type Jobs = typeof JOBS;
export type JobName = keyof Jobs;
export type JobInput<Name extends JobName> = Parameters<Jobs[Name]>[1];
export type JobOutput<Name extends JobName> = Awaited<ReturnType<Jobs[Name]>>;
