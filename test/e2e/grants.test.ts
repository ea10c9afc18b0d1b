import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { ApprovalAnswer } from "../../src/core/session/approval.ts";
import type { Session } from "../../src/runtime/session.ts";
import { agent, eventsOf, ofType, testHost, type TestHost } from "../support/host.ts";
import { call, say, type Script } from "../support/scripted-model.ts";

const ME = { by: "me" };
/** Runs the command that the last message names. */
const obeys: Script = ({ last }) => {
  // The result of an interrupted call may come in the same message.
  const command = /RUN (.*)/.exec(last)?.[1];
  return command === undefined ? say("Done.") : call("Bash", { command });
};

async function waitUntilEnded(session: Session): Promise<void> {
  for await (const event of session.events())
    if (event.type === "session.status_idle" && session.state.stopReason?.type === "end_turn") return;
}

async function answer(t: TestHost, given: ApprovalAnswer): Promise<string> {
  const [approval] = await t.host.approvals.list({ status: "pending" });
  await t.host.approvals.answer(approval?.id ?? "", given, ME);
  return approval?.id ?? "";
}

const start = (t: TestHost, permissions = {}) =>
  t.host.startSession({ agent: agent({ tools: ["Bash"], permissions }), cwd: t.cwd });

async function asksFor(session: Session, command: string): Promise<boolean> {
  return (await session.send(`RUN ${command}`).result()).stopReason.type === "requires_action";
}

const ran = (t: TestHost, file: string) => existsSync(join(t.cwd, file));

describe("an answer that is remembered", () => {
  test("for the session answers the same call there, and in no other session or fork", async () => {
    await using t = await testHost(obeys);
    const session = await start(t);
    expect(await asksFor(session, "touch a")).toBe(true);
    await answer(t, { behavior: "allow", scope: "session" });
    await waitUntilEnded(session);
    expect(await asksFor(session, "touch a")).toBe(false);
    expect(await asksFor(session, "touch b")).toBe(true);
    await session.interrupt();

    const fork = await t.host.forkSession(session.id);
    expect(await asksFor(fork, "touch a")).toBe(true);
    const other = await start(t);
    expect(await asksFor(other, "touch a")).toBe(true);
    const decisions = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
    const [grant] = await t.host.grants.list();
    expect(decisions.map(({ decided_by: by }) => by)).toEqual(["person:me", `grant:${grant?.id}`, "turn:ended"]);
    expect(grant).toMatchObject({ rule: "Bash(touch a)", scope: "session", uses: 1, by: "me" });
  });

  test("for the project, as the rule it was edited to, answers in the project's other sessions until it is revoked", async () => {
    await using t = await testHost(obeys);
    const session = await start(t);
    await asksFor(session, "touch a");
    await answer(t, { behavior: "allow", scope: "project", rules: ["Bash(touch *)"] });
    await waitUntilEnded(session);
    const other = await start(t);
    expect(await asksFor(other, "touch b")).toBe(false);
    const [grant] = await t.host.grants.list();
    await t.host.grants.revoke(grant?.id ?? "");
    expect(await asksFor(other, "touch c")).toBe(true);
    await expect(t.host.grants.revoke(grant?.id ?? "")).rejects.toMatchObject({ code: "not_found" });
  });

  test("never beats a deny rule, nor an ask rule that forbids remembering", async () => {
    await using t = await testHost(obeys);
    const first = await start(t);
    await asksFor(first, "touch a");
    await answer(t, { behavior: "allow", scope: "always", rules: ["Bash(touch *)"] });
    await waitUntilEnded(first);
    const session = await start(t, {
      deny: ["Bash(touch secret)"],
      ask: [{ rule: "Bash(touch prod)", remember: false }],
    });
    expect(await asksFor(session, "touch secret")).toBe(false);
    expect(ran(t, "secret")).toBe(false);
    expect(await asksFor(session, "touch prod")).toBe(true);
    const remembered = answer(t, { behavior: "allow", scope: "always" });
    await expect(remembered).rejects.toThrow("may not be remembered: rule:ask Bash(touch prod)");
    await answer(t, { behavior: "allow" });
    await waitUntilEnded(session);
    expect(ran(t, "prod")).toBe(true);
  });
});

describe("an answer that makes no sense", () => {
  /** Where an approval waits, for all of them: none of these answers may change that. */
  let t: TestHost;
  beforeAll(async () => {
    t = await testHost(obeys);
    await asksFor(await start(t), "touch a");
    return () => t[Symbol.asyncDispose]();
  });

  test.each<[string, ApprovalAnswer, string]>([
    ["a malformed rule", { behavior: "allow", scope: "session", rules: ["Bash(touch"] }, "closing parenthesis"],
    ["a rule for everything", { behavior: "allow", scope: "always", rules: ["*"] }, "can only deny or ask"],
    ["a remembered denial", { behavior: "deny", scope: "session" }, "A denial is not remembered"],
    ["a rule without a scope", { behavior: "allow", rules: ["Bash(touch a)"] }, "only remembered with a scope"],
    ["answers to no question", { behavior: "allow", answers: { why: "so" } }, "Answers are for a question"],
  ])("is refused with %s, and the approval still waits", async (_case, given, message) => {
    await expect(answer(t, given)).rejects.toThrow(message);
    expect(await t.host.approvals.list({ status: "pending" })).toHaveLength(1);
    expect(await t.host.grants.list()).toEqual([]);
  });
});

describe("a person who is asked", () => {
  test("may edit what runs, but not into what a rule denies", async () => {
    await using t = await testHost(obeys);
    const session = await start(t, { deny: ["Bash(touch secret)"] });
    await asksFor(session, "touch a");
    await answer(t, { behavior: "allow", input: { command: "touch edited" } });
    await waitUntilEnded(session);
    expect([ran(t, "a"), ran(t, "edited")]).toEqual([false, true]);
    await asksFor(session, "touch b");
    await answer(t, { behavior: "allow", input: { command: "touch secret" } });
    await waitUntilEnded(session);
    expect(ran(t, "secret")).toBe(false);
    const decisions = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
    expect(decisions).toMatchObject([
      { decision: "allow", input: { command: "touch edited" } },
      { decision: "deny", decided_by: "rule:deny Bash(touch secret)" },
    ]);
  });

  test("sees the change that an edit would make", async () => {
    await using t = await testHost(({ toolResults }) =>
      toolResults.length > 0 ? say("Done.") : call("Write", { file_path: join(t.cwd, "a.txt"), content: "one\ntwo\n" }),
    );
    const session = await t.host.startSession({ agent: agent({ tools: ["Write"] }), cwd: t.cwd });
    await session.send("Write.").result();
    const [approval] = await t.host.approvals.list();
    expect(approval?.request.diff).toContain("+one\n+two\n");
    expect(approval?.request.remember).toEqual(["Edit(./a.txt)"]);
    await answer(t, { behavior: "allow" });
    await waitUntilEnded(session);
    expect(readFileSync(join(t.cwd, "a.txt"), "utf8")).toBe("one\ntwo\n");
  });

  test("has as long as the agent's definition says; then the call is denied", async () => {
    await using t = await testHost(obeys);
    const session = await start(t, { approvals_expire_ms: 300 });
    await session.send("RUN touch a").result();
    await waitUntilEnded(session);
    expect(ran(t, "a")).toBe(false);
    const [decision] = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
    expect(decision).toMatchObject({ decision: "deny", decided_by: "expired" });
    const [approval] = await t.host.approvals.list();
    await expect(t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME)).rejects.toMatchObject({
      code: "approval_closed",
    });
  });

  test("need not answer any more when the turn is interrupted, with or without a process", async () => {
    await using t = await testHost(obeys);
    for (const asleep of [false, true]) {
      const session = await start(t);
      await asksFor(session, "touch a");
      if (asleep) await session.hibernate();
      await session.interrupt();
      expect(session.state).toMatchObject({ status: "idle", stopReason: { type: "end_turn" }, openCalls: {} });
      expect(await t.host.approvals.list({ status: "pending" })).toEqual([]);
      expect((await session.send("Thank you.").result()).stopReason).toEqual({ type: "end_turn" });
    }
    expect(ran(t, "a")).toBe(false);
  });
});

test("a message to a session that waits is told what it waits for, and is taken up afterwards", async () => {
  await using t = await testHost((request) =>
    request.last.includes("And then?") ? say("Then this.") : obeys(request),
  );
  const session = await start(t);
  await asksFor(session, "touch a");
  await session.hibernate();
  const waiting = await session.send("And then?").result();
  expect(waiting.stopReason.type).toBe("requires_action");
  await answer(t, { behavior: "allow" });
  await waitUntilEnded(session);
  expect(ran(t, "a")).toBe(true);
  expect(session.state.undelivered).toEqual([]);
  expect(t.model.requests.at(-1)?.transcript).toContain("And then?");
});
