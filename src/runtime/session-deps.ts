import type { Clock, Ids } from "../core/clock.ts";
import type { Engine } from "../core/engine.ts";
import type { Gateway } from "../core/gateway.ts";
import type { OutputCheck } from "../core/output.ts";
import type { AskPermission } from "../core/permission.ts";
import type { SessionRecord, Store } from "../core/store.ts";
import type { Tool } from "../core/tool.ts";
import type { Feed } from "./feed.ts";
import type { SessionLog } from "./session-log.ts";

/** What a session in motion needs; put together by the runtime. */
export interface SessionDeps {
  readonly record: SessionRecord;
  readonly store: Store;
  readonly log: SessionLog;
  readonly feed: Feed;
  readonly engine: Engine;
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly stateDir: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly tools: readonly Tool[];
  readonly ask: AskPermission | undefined;
  /** An idle process is ended after this many milliseconds. */
  readonly hibernateAfterMs: number;
  readonly output: OutputCheck<unknown> | undefined;
  /** Gives the lease back. */
  readonly release: () => Promise<void>;
}
