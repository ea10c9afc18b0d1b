import { expect, test } from "vitest";
import { lastSession } from "../../src/cli/target/session-id.ts";
import type { SessionSummary } from "../../src/core/ports/store.ts";
import { sampleSession } from "../store/samples.ts";

const session = (id: string, times: Pick<SessionSummary, "lastActivityAt" | "lastSpokenAt">): SessionSummary => ({
  ...sampleSession(id),
  ...times,
  status: "idle",
  turns: 1,
  usd: 0,
  firstMessage: "",
});

test("the last session is the one last spoken to, and not one that waits or works by itself", async () => {
  const waits = session("sesn_waits", { lastSpokenAt: 1, lastActivityAt: 9 });
  const spoken = session("sesn_spoken", { lastSpokenAt: 5, lastActivityAt: 6 });
  const old = session("sesn_old", { lastSpokenAt: 0, lastActivityAt: 2 });
  const list = { sessions: async () => [waits, spoken, old] };
  expect(await lastSession(list, { project: "/srv/a", directory: undefined })).toBe("sesn_spoken");
});
