import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { assemble } from "../../../src/app/assemble.ts";
import { clock } from "../../../src/app/clock.ts";
import type { ApprovalAnswer } from "../../../src/core/session/approval.ts";
import { upstreamsFor } from "../../../src/gateway/upstreams/upstreams.ts";
import type { Session } from "../../../src/runtime/session.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { approvalAgent, recordTool } from "./approval-task.ts";
import { crashing, type CrashPoint } from "./crashing-store.ts";

/** A host in a process of its own that drives one session of the approval campaign, until it is told to end or killed. */
export interface ApprovalHostTask {
  readonly home: string;
  readonly cwd: string;
  readonly environment: Record<string, string>;
  readonly hibernateAfterMs: number;
  /** Undefined to start one. */
  readonly sessionId: string | undefined;
  /** Undefined to live. */
  readonly crash?: CrashPoint | undefined;
}

export type HostOrder =
  | { readonly kind: "answer"; readonly approvalId: string; readonly answer: ApprovalAnswer }
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "end" };

export type ApprovalHostReport = { readonly kind: "started" } | { readonly kind: "ended"; readonly appends: number };

/** A turn that was lost is taken up again this often; each blow may cost one. */
const MAX_LOST_TURNS = 6;

process.once("message", (task: ApprovalHostTask) => void run(task));
// Nobody is left who could end it.
process.once("disconnect", () => process.exit());

// A host that is killed does not come to this at its end, and the next one would compile everything again.
flushCompileCache();

async function run({ home, cwd, environment, hibernateAfterMs, sessionId, crash }: ApprovalHostTask): Promise<void> {
  const counted = crashing(await openSqliteStore({ path: join(home, "capstan.db"), clock }), crash);
  const settings = {
    home,
    path: environment["PATH"] ?? "",
    retries: 1,
    upstreamIdleMs: 60_000,
    hibernateAfterMs,
  };
  await using host = await assemble(settings, {
    store: counted.store,
    upstream: await upstreamsFor({ environment })(),
  });
  const tools = [recordTool(cwd)];
  const session =
    sessionId === undefined
      ? await host.startSession({ agent: approvalAgent, cwd, tools })
      : await host.resumeSession(sessionId, { tools });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  process.on("message", (order: HostOrder) => {
    if (order.kind === "answer") void host.approvals.answer(order.approvalId, order.answer, { by: "somebody" });
    else if (order.kind === "say") say(session, order.text);
    else end();
  });
  report({ kind: "started" });
  const log = await host.read(session.id);
  if (!log.some(({ type }) => type === "user.message")) say(session, "work");
  const over = new AbortController();
  const kept = keepGoing(session, over.signal);
  await ended;
  over.abort();
  await kept;
  await host.close();
  report({ kind: "ended", appends: counted.appends().log });
  process.disconnect();
}

/** The agent process was killed from outside, and the turn with it: the session must be able to go on. */
async function keepGoing(session: Session, signal: AbortSignal): Promise<void> {
  for (let lost = 0; !signal.aborted;) {
    const { status, stopReason } = session.state;
    if (status === "idle" && stopReason?.type === "retries_exhausted") {
      lost += 1;
      if (lost > MAX_LOST_TURNS) throw new Error("The turn was lost again and again.");
      await session
        .send("go on")
        .result()
        .catch(() => {});
    }
    await sleep(10);
  }
}

/** What becomes of it is read off the log. */
function say(session: Session, text: string): void {
  void session
    .send(text)
    .result()
    .catch(() => {});
}

function report(message: ApprovalHostReport): void {
  process.send?.(message);
}
