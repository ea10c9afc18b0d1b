import { describe, expect, test } from "vitest";
import type { Grant, StoredAnswer } from "../../../src/core/session/approval.ts";
import type { EventOf } from "../../../src/core/events/events.ts";
import type { Store } from "../../../src/core/ports/store.ts";
import { EVENT_EXAMPLES } from "../../support/event-examples.ts";
import { manualClock, MINUTE, NOON, sampleOwner, sampleSession } from "../samples.ts";
import { type Create, drivenSession } from "./under-test.ts";

const yes: StoredAnswer = { behavior: "allow", by: "me", from: "cli", at: NOON };
const no: StoredAnswer = { behavior: "deny", by: "you", from: "cli", at: NOON };

function requestEvent(id: string, more: Partial<EventOf<"capstan.approval_requested">> = {}) {
  const processed_at = new Date(NOON).toISOString();
  return { ...EVENT_EXAMPLES["capstan.approval_requested"], id: `sevt_${id}`, processed_at, approval_id: id, ...more };
}

function decisionEvent(id: string): EventOf<"capstan.permission_decided"> {
  return { ...EVENT_EXAMPLES["capstan.permission_decided"], approval_id: id };
}

function grant(id: string, more: Partial<Grant> = {}): Grant {
  const where = { sessionId: null, project: null, scope: "always" as const };
  const never = { createdAt: NOON, lastUsedAt: null, uses: 0 };
  return { id, rule: "Bash(make)", ...where, approvalId: "appr_1", by: "me", ...never, ...more };
}

/** A session that has asked once. */
async function asking(store: Store, session: string, ...ids: string[]): Promise<number> {
  const { fence } = await drivenSession(store, session);
  await store.append(session, { after: 0, events: ids.map((id) => requestEvent(id)), fence });
  return fence;
}

export function approvalTests(create: Create): void {
  describe("approvals", () => {
    test("tell which sessions wait: for as long as nobody has answered and the time is not up", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const waitingAt = async (time: number): Promise<string[]> =>
        (await other.sessions({ waitingAt: time, limit: 2 })).map(({ id }) => id);
      for (const id of ["sesn_1", "sesn_2"]) await fresh.store.createSession(sampleSession(id));
      await asking(fresh.store, "sesn_3", "appr_1", "appr_2");
      const { fence } = await drivenSession(fresh.store, "sesn_4");
      const until = new Date(NOON + MINUTE).toISOString();
      await fresh.store.append("sesn_4", { after: 0, events: [requestEvent("appr_3", { expires_at: until })], fence });
      expect(await waitingAt(NOON)).toEqual(["sesn_3", "sesn_4"]);
      expect(await waitingAt(NOON + MINUTE)).toEqual(["sesn_3"]);
      await other.approvals.answer("appr_1", yes, []);
      expect(await waitingAt(NOON)).toEqual(["sesn_3", "sesn_4"]);
      await other.approvals.answer("appr_2", yes, []);
      expect(await waitingAt(NOON)).toEqual(["sesn_4"]);
    });

    test("say which sessions should be at work, together with those in a turn, and who drives each", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await using other = await fresh.another();
      const running = { ...EVENT_EXAMPLES["session.status_running"], processed_at: new Date(NOON).toISOString() };
      await drivenSession(fresh.store, "sesn_idle");
      for (const [id, archivedAt] of [
        ["sesn_running", null],
        ["sesn_archived", NOON],
      ] as const) {
        await fresh.store.createSession(sampleSession(id, { archivedAt }));
        const lease = await fresh.store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
        await fresh.store.append(id, { after: 0, events: [running], fence: lease.fence });
      }
      await asking(fresh.store, "sesn_waiting", "appr_1");
      await asking(fresh.store, "sesn_answered", "appr_2", "appr_3");
      const { fence } = await drivenSession(fresh.store, "sesn_late");
      const until = new Date(NOON + MINUTE / 2).toISOString();
      await fresh.store.append("sesn_late", {
        after: 0,
        events: [requestEvent("appr_4", { expires_at: until })],
        fence,
      });
      for (const id of ["appr_2", "appr_3"]) await other.approvals.answer(id, yes, []);
      const wanted = async (): Promise<unknown> =>
        (await other.leases.listWanted(clock.now())).map(({ sessionId, holder }) => [sessionId, holder?.hostId]);
      expect(await wanted()).toEqual([
        ["sesn_answered", "host_a"],
        ["sesn_running", "host_a"],
      ]);
      clock.advance(MINUTE / 2);
      expect(await wanted()).toContainEqual(["sesn_late", "host_a"]);
      clock.advance(MINUTE / 2);
      expect(await wanted()).toEqual(["sesn_answered", "sesn_late", "sesn_running"].map((id) => [id, undefined]));
    });

    test("are there as soon as the log says so, and settled as soon as it says that", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const fence = await asking(fresh.store, "sesn_1", "appr_1");
      expect(await other.approvals.get("appr_1")).toEqual({
        id: "appr_1",
        sessionId: "sesn_1",
        project: "default",
        agent: "reviewer",
        status: "pending",
        request: requestEvent("appr_1"),
        createdAt: NOON,
        expiresAt: null,
        answer: null,
      });
      await other.approvals.answer("appr_1", yes, []);
      expect(await fresh.store.approvals.get("appr_1")).toMatchObject({ status: "answered", answer: yes });
      await fresh.store.append("sesn_1", { after: 1, events: [decisionEvent("appr_1")], fence });
      expect(await other.approvals.get("appr_1")).toMatchObject({ status: "settled", answer: yes });
    });

    test("show the input as it is until they are settled, and never in the log", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const events = [requestEvent("appr_1", { input: { command: "login [redacted]" } })];
      const unredacted = { appr_1: { command: "login secret" } };
      await fresh.store.append("sesn_1", { after: 0, events, fence, unredacted });
      const input = async () => (await fresh.store.approvals.get("appr_1"))?.request.input;
      expect(await input()).toEqual({ command: "login secret" });
      await fresh.store.approvals.answer("appr_1", yes, []);
      expect(await input()).toEqual({ command: "login secret" });
      await fresh.store.append("sesn_1", { after: 1, events: [decisionEvent("appr_1")], fence });
      expect(await input()).toEqual({ command: "login [redacted]" });
      expect(JSON.stringify(await fresh.store.events("sesn_1"))).not.toContain("secret");
    });

    test("keep the result of a custom tool until they are settled", async () => {
      await using fresh = await create(manualClock());
      const fence = await asking(fresh.store, "sesn_1", "appr_1");
      const result = { content: [{ type: "text" as const, text: "blue" }], isError: false };
      await fresh.store.approvals.answer("appr_1", { ...yes, result }, []);
      expect((await fresh.store.approvals.get("appr_1"))?.answer).toEqual({ ...yes, result });
      await fresh.store.append("sesn_1", { after: 1, events: [decisionEvent("appr_1")], fence });
      expect((await fresh.store.approvals.get("appr_1"))?.answer).toEqual(yes);
    });

    test("take one answer; every other is told which one stands", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await asking(fresh.store, "sesn_1", "appr_1");
      const stores = [fresh.store, other, fresh.store, other];
      const given = await Promise.allSettled(
        stores.map((store, index) => store.approvals.answer("appr_1", index === 0 ? yes : no, [])),
      );
      expect(given.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected", "rejected"]);
      const stands = (await other.approvals.get("appr_1"))?.answer;
      for (const each of given)
        if (each.status === "rejected")
          expect(each.reason).toMatchObject({ code: "approval_closed", data: { answer: stands } });
    });

    test("take no answer once they are over, expired, or were never there", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const expires_at = new Date(NOON + MINUTE).toISOString();
      const events = [requestEvent("appr_1"), decisionEvent("appr_1"), requestEvent("appr_2", { expires_at })];
      await fresh.store.append("sesn_1", { after: 0, events, fence });
      clock.advance(MINUTE);
      const answer = (id: string) => fresh.store.approvals.answer(id, yes, [grant("grnt_1")]);
      await expect(answer("appr_1")).rejects.toMatchObject({
        code: "approval_closed",
        message: expect.stringContaining("closed"),
      });
      await expect(answer("appr_2")).rejects.toMatchObject({
        code: "approval_closed",
        message: expect.stringContaining("expired"),
      });
      await expect(answer("appr_3")).rejects.toMatchObject({ code: "not_found" });
      expect(await fresh.store.approvals.grants()).toEqual([]);
    });

    test("are listed by status, session and project, oldest first", async () => {
      await using fresh = await create(manualClock());
      await asking(fresh.store, "sesn_1", "appr_2", "appr_1");
      await asking(fresh.store, "sesn_2", "appr_3");
      await fresh.store.approvals.answer("appr_1", yes, []);
      const ids = async (query: Parameters<Store["approvals"]["list"]>[0]) =>
        (await fresh.store.approvals.list(query)).map(({ id }) => id);
      expect(await ids({})).toEqual(["appr_1", "appr_2", "appr_3"]);
      expect(await ids({ limit: 2 })).toEqual(["appr_2", "appr_3"]);
      expect(await ids({ limit: 1, sessionId: "sesn_1" })).toEqual(["appr_2"]);
      expect(await ids({ status: "pending" })).toEqual(["appr_2", "appr_3"]);
      expect(await ids({ sessionId: "sesn_1", status: "answered" })).toEqual(["appr_1"]);
      expect(await ids({ project: "default" })).toHaveLength(3);
      expect(await ids({ project: "another" })).toEqual([]);
    });

    test("are gone with their session", async () => {
      await using fresh = await create(manualClock());
      const fence = await asking(fresh.store, "sesn_1", "appr_1");
      await fresh.store.deleteSession("sesn_1", fence);
      expect(await fresh.store.approvals.list()).toEqual([]);
    });
  });

  describe("grants", () => {
    test("come with the answer that makes them, and hold where it says", async () => {
      await using fresh = await create(manualClock());
      await asking(fresh.store, "sesn_1", "appr_1");
      const grants = [
        grant("grnt_1", { scope: "session", sessionId: "sesn_1" }),
        grant("grnt_2", { scope: "project", project: "default" }),
        grant("grnt_3"),
      ];
      await fresh.store.approvals.answer("appr_1", yes, grants);
      const ids = async (sessionId: string, project: string) =>
        (await fresh.store.approvals.grants({ sessionId, project })).map(({ id }) => id);
      expect(await fresh.store.approvals.grants()).toEqual(grants);
      expect(await ids("sesn_1", "default")).toEqual(["grnt_1", "grnt_2", "grnt_3"]);
      expect(await ids("sesn_2", "default")).toEqual(["grnt_2", "grnt_3"]);
      expect(await ids("sesn_2", "another")).toEqual(["grnt_3"]);
    });

    test("know when they were used, until they are revoked", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await asking(fresh.store, "sesn_1", "appr_1");
      await fresh.store.approvals.answer("appr_1", yes, [grant("grnt_1")]);
      clock.advance(MINUTE);
      await fresh.store.approvals.recordUse("grnt_1");
      await fresh.store.approvals.recordUse("grnt_1");
      expect(await fresh.store.approvals.grants()).toMatchObject([{ uses: 2, lastUsedAt: NOON + MINUTE }]);
      expect(await fresh.store.approvals.revoke("grnt_1")).toBe(true);
      expect(await fresh.store.approvals.revoke("grnt_1")).toBe(false);
      expect(await fresh.store.approvals.grants()).toEqual([]);
    });
  });
}
