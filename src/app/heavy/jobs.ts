import type { Environment } from "../../config/project/home.ts";
import { archivePage } from "./jobs/archive-page.ts";
import { findSessions } from "./jobs/find-sessions.ts";
import { replayPolicy } from "./jobs/replay-policy.ts";
import { verifyLogs } from "./jobs/verify-logs.ts";

/** The location of the store that a job reads. */
export interface HeavyContext {
  readonly home: string;
  /** Only those of the host's variables that contain paths. */
  readonly environment: Environment;
}

/**
 * Work that runs in separate threads, because it could block everything else. A job reads the store and returns data
 * that can be passed between threads. To add one, write its function in `jobs/` and list it here.
 */
export const JOBS = { archivePage, findSessions, replayPolicy, verifyLogs };

export type Jobs = typeof JOBS;
export type JobName = keyof Jobs;
export type JobInput<Name extends JobName> = Parameters<Jobs[Name]>[1];
export type JobOutput<Name extends JobName> = Awaited<ReturnType<Jobs[Name]>>;
