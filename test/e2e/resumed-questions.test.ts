import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionQuestion } from "../../src/core/session/approval.ts";
import { agent, eventsOf, ofType, type TestHost, testHost } from "../support/host.ts";
import { call, say, type Script } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

const script: Script = (request) =>
  request.toolResults.length === 0 ? call("Bash", { command: "touch ran" }) : say("done");

/** A session that nobody drives and that waits for an answer. */
async function waitingSession(t: TestHost): Promise<string> {
  const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
  await session.send("Work.").result();
  await session.close();
  return session.id;
}

test("a program that resumes a session is asked what the session waits for, once, and its answer counts", async () => {
  await using t = await testHost(script);
  const id = await waitingSession(t);
  const asked: PermissionQuestion[] = [];
  const session = await t.host.resumeSession(id, {
    askPermission: (question) => {
      asked.push(question);
      return { behavior: "allow", by: "program" };
    },
  });
  await until(
    () => session.state,
    ({ stopReason }) => stopReason?.type === "end_turn",
  );
  expect(asked).toMatchObject([{ sessionId: id, kind: "tool", tool: "Bash", input: { command: "touch ran" } }]);
  expect(existsSync(join(t.cwd, "ran"))).toBe(true);
  expect(ofType(await eventsOf(t.host, id), "user.tool_confirmation")).toMatchObject([
    { result: "allow", by: "program", from: "library" },
  ]);
});

test("a program that fails to answer denies, and one that does not answer leaves the question open", async () => {
  await using t = await testHost(script);
  const id = await waitingSession(t);
  const silent = await t.host.resumeSession(id, { askPermission: () => undefined });
  expect(silent.state.stopReason?.type).toBe("requires_action");
  await silent.close();
  expect(await t.host.approvals.list({ status: "pending" })).toHaveLength(1);

  const failing = await t.host.resumeSession(id, {
    askPermission: () => {
      throw new Error("the program is broken");
    },
  });
  await until(
    () => failing.state,
    ({ stopReason }) => stopReason?.type === "end_turn",
  );
  expect(existsSync(join(t.cwd, "ran"))).toBe(false);
  expect(t.model.requests.at(-1)?.last).toContain("the program is broken");
});

test("a question is taken back when somebody else answers it", async () => {
  await using t = await testHost(script);
  const id = await waitingSession(t);
  const taken = Promise.withResolvers<string>();
  const session = await t.host.resumeSession(id, {
    askPermission: ({ approvalId, signal }) => {
      signal.addEventListener("abort", () => taken.resolve(approvalId), { once: true });
      return new Promise(() => {});
    },
  });
  const [approval] = await t.host.approvals.list({ status: "pending" });
  await t.host.approvals.answer(approval?.id ?? "", { behavior: "deny", message: "no" }, { by: "anna" });
  expect(await taken.promise).toBe(approval?.id);
  await until(
    () => session.state,
    ({ stopReason }) => stopReason?.type === "end_turn",
  );
});
