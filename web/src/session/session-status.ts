import type { WireSession, WireSessionWithState } from "../../../src/client/index.ts";
import type { Tone } from "../parts/tone.tsx";

type Shown = Pick<WireSession, "status" | "waiting" | "archived_at"> & Partial<Pick<WireSessionWithState, "state">>;

/** A session's status as a label and a color. */
export function statusOf({ status, waiting, archived_at, state }: Shown): {
  readonly tone: Tone;
  readonly label: string;
} {
  if (archived_at !== null) return { tone: "quiet", label: "archived" };
  if (waiting > 0) return { tone: "waiting", label: "Needs approval" };
  // Between the answer and its effect, the session no longer waits for a person.
  if (status === "running" || state?.stop_reason?.type === "requires_action")
    return { tone: "running", label: "running" };
  if (status === "rescheduling") return { tone: "waiting", label: "resuming soon" };
  return status === "terminated" ? { tone: "bad", label: "ended" } : { tone: "quiet", label: "idle" };
}
