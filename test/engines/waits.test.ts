import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { CapstanError } from "../../src/core/errors.ts";
import { waitForAnswer } from "../../src/engines/claude/waits/wait-for-answer.ts";
import { FirstSign } from "../../src/engines/claude/waits/first-sign.ts";
import { Announcements } from "../../src/engines/claude/waits/announcements.ts";

const never = new AbortController().signal;

/** Whether the promise is settled once everything that can happen by itself has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.catch(() => {}).finally(() => (done = true));
  await setImmediate();
  return done;
}

describe("waiting for a call to be announced", () => {
  test("ends when it is", async () => {
    const announcements = new Announcements([]);
    const waiting = announcements.wait("a", never);
    announcements.announce("b");
    expect(await isSettled(waiting)).toBe(false);
    announcements.announce("a");
    await expect(waiting).resolves.toBeUndefined();
  });

  test("is not needed when it was before, or by an earlier process", async () => {
    const announcements = new Announcements(["old"]);
    announcements.announce("new");
    await expect(announcements.wait("old", never)).resolves.toBeUndefined();
    await expect(announcements.wait("new", never)).resolves.toBeUndefined();
  });

  test("holds each call for itself", async () => {
    const announcements = new Announcements([]);
    const [a, b] = [announcements.wait("a", never), announcements.wait("b", never)];
    announcements.announce("b");
    await expect(b).resolves.toBeUndefined();
    expect(await isSettled(a)).toBe(false);
  });

  test("is given up when the call is", async () => {
    const stop = new AbortController();
    const waiting = new Announcements([]).wait("a", stop.signal);
    stop.abort();
    await expect(waiting).rejects.toThrow("the call was canceled");
  });

  // An abort that came before is never heard: the hook would hang for as long as a timer can run.
  test("is given up at once when the call already was", async () => {
    expect(await isSettled(new Announcements([]).wait("a", AbortSignal.abort()))).toBe(true);
  });

  // The second to wait takes the place of the first.
  test("ends for everyone who waits for the same call", async () => {
    const announcements = new Announcements([]);
    const waiting = [announcements.wait("a", never), announcements.wait("a", never)];
    announcements.announce("a");
    expect(await Promise.all(waiting.map(isSettled))).toEqual([true, true]);
  });
});

describe("waiting for a call that is never announced", () => {
  test("ends at once while the conversation is summarised: the call is of an agent that was never started", async () => {
    const announcements = new Announcements([]);
    const before = announcements.wait("a", never, "stranger");
    const rejected = expect(before).rejects.toThrow("is being compacted");
    announcements.summarises(new Set(["helper"]));
    await rejected;
    await expect(announcements.wait("b", never, "stranger")).rejects.toThrow("is being compacted");
  });

  test("goes on for calls of the agent and of its subagents, also while the conversation is summarised", async () => {
    const announcements = new Announcements([]);
    announcements.summarises(new Set(["helper"]));
    const waiting = [announcements.wait("a", never), announcements.wait("b", never, "helper")];
    expect(await Promise.all(waiting.map(isSettled))).toEqual([false, false]);
    announcements.announce("a");
    announcements.announce("b");
    await Promise.all(waiting);
    announcements.summarises(undefined);
    expect(await isSettled(announcements.wait("c", AbortSignal.abort(), "new"))).toBe(true);
  });

  test("ends after a while, whatever the reason", async () => {
    await expect(new Announcements([], { withinMs: 1 }).wait("a", never)).rejects.toThrow("did not announce");
  });
});

describe("a process", () => {
  test("that does not answer is not waited for without end", async () => {
    const { promise } = Promise.withResolvers<void>();
    await expect(waitForAnswer(promise, "start", { withinMs: 1 })).rejects.toMatchObject({
      code: "engine_failed",
      message: expect.stringContaining("did not start within 0.001 seconds") as string,
    });
    expect(await waitForAnswer(Promise.resolve("yes"), "start")).toBe("yes");
  });

  test("that is to continue a turn and gives no sign is ended; any sign of work is enough", async () => {
    const silence = Promise.withResolvers<CapstanError>();
    const silent = new FirstSign({ isAsking: () => false, onSilence: silence.resolve }, { withinMs: 1 });
    silent.hear({ type: "system", subtype: "ui_invalidate" } as unknown as SDKMessage);
    expect(await silence.promise).toMatchObject({ code: "engine_failed" });

    const ended: string[] = [];
    const works = new FirstSign({ isAsking: () => false, onSilence: () => ended.push("works") }, { withinMs: 1 });
    works.hear({ type: "system", subtype: "init" } as unknown as SDKMessage);
    const asks = Promise.withResolvers<void>();
    const isAsking = (): boolean => {
      asks.resolve();
      return true;
    };
    const waits = new FirstSign({ isAsking, onSilence: () => ended.push("asks") }, { withinMs: 2 });
    await asks.promise;
    await setImmediate();
    waits.stop();
    expect(ended).toEqual([]);
  });
});
