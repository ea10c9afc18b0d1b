import type { WireSession, WireSessionWithState } from "../../../src/client/index.ts";
import type { Tone } from "../parts/tone.tsx";

type Shown = Pick<WireSession, "status" | "waiting" | "archived_at"> & Partial<Pick<WireSessionWithState, "state">>;

/** A session's status in a word, and in a colour. */
export function statusOf({ status, waiting, archived_at, state }: Shown): {
  readonly tone: Tone;
  readonly label: string;
} {
  if (archived_at !== null) return { tone: "quiet", label: "archived" };
  if (waiting > 0) return { tone: "waiting", label: "waits for you" };
  // Between the answer and what comes of it nobody is waited for any more.
  if (status === "running" || state?.stop_reason?.type === "requires_action")
    return { tone: "running", label: "running" };
  if (status === "rescheduling") return { tone: "waiting", label: "goes on soon" };
  return status === "terminated" ? { tone: "bad", label: "ended" } : { tone: "quiet", label: "idle" };
}
