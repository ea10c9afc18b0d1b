import { CapstanError } from "../../../core/errors.ts";

/** Refuses a writer whose lease has ended or belongs to another host; `current` is null before the first lease. */
export function requireFence(
  sessionId: string,
  { fence, current }: { readonly fence: number; readonly current: number | null },
): void {
  if (fence !== current)
    throw new CapstanError(
      "lease_lost",
      `This host no longer drives session ${sessionId} (its fence is ${fence}, the current one ${current ?? "none"}). ` +
        "Stop working on the session; acquire its lease again to continue.",
      { data: { sessionId, fence, current } },
    );
}
