import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { query } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { gate } from "../../src/engines/claude/hooks.ts";
import { agent, eventsOf, ofType, temporaryDirectory, testEnvironment, testHost } from "../support/host.ts";
import { call, say, scriptedModel, type Script } from "../support/scripted-model.ts";
import { sharedSession } from "../support/shared-session.ts";
import { until } from "../support/until.ts";

const touching =
  (file: string): Script =>
  ({ toolResults }) =>
    toolResults.length === 0 ? call("Bash", { command: `touch ${file}` }) : say("Done.");
const touches = touching("made");
const bash = agent({ tools: ["Bash"] });

describe("a question that is open when the mode changes", () => {
  /** It goes on when its question is settled. */
  const asking = sharedSession(() => bash);

  test.each([
    { mode: "yolo", decision: "allow", where: "awake" },
    { mode: "yolo", decision: "allow", where: "asleep" },
    { mode: "read-only", decision: "deny", where: "awake" },
    { mode: "read-only", decision: "deny", where: "asleep" },
    { mode: "plan", decision: "deny", where: "asleep" },
  ] as const)(
    "is settled by the mode $mode when the session is $where: $decision",
    async ({ mode, decision, where }) => {
      const file = `made-${mode}-${where}`;
      const { t, session, events } = await asking(touching(file));
      await session.setMode("normal");
      expect((await session.send("Touch.").result()).stopReason.type).toBe("requires_action");
      const [asked] = await t.host.approvals.list({ status: "pending" });
      if (where === "asleep") await session.hibernate();
      await session.setMode(mode);
      await until(
        () => session.state,
        (state) => state.stopReason?.type === "end_turn",
      );
      expect(ofType(await events(), "capstan.permission_decided")).toMatchObject([
        { decision, decided_by: `mode:${mode}`, approval_id: asked?.id, mode },
      ]);
      expect((await t.host.approvals.get(asked?.id ?? "")).status).toBe("settled");
      expect(existsSync(join(t.cwd, file))).toBe(decision === "allow");
      await expect(t.host.approvals.answer(asked?.id ?? "", { behavior: "allow" }, { by: "me" })).rejects.toMatchObject(
        { code: "approval_closed" },
      );
    },
  );

  test("stays open when the new mode asks as well", async () => {
    const { t, session, events } = await asking(touches);
    await session.setMode("normal");
    await session.send("Touch.").result();
    await session.setMode("accept-edits");
    const [asked] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(asked?.id ?? "", { behavior: "allow" }, { by: "me" });
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(ofType(await events(), "capstan.permission_decided")).toMatchObject([
      { decision: "allow", decided_by: "person:me", mode: "accept-edits" },
    ]);
  });
});

describe("permission that cannot be decided is denied", () => {
  test("when the rules of the session cannot be read", async () => {
    await using t = await testHost(touches);
    const session = await t.host.startSession({ agent: bash, cwd: t.cwd });
    await session.send("Touch.").result();
    const [asked] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(
      asked?.id ?? "",
      { behavior: "allow", scope: "session", rules: ["Bash(ls)"] },
      { by: "me" },
    );
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    const database = new DatabaseSync(join(t.home, "capstan.db"));
    database.exec("UPDATE grants SET rule = 'Bash('");
    database.close();
    t.model.script = ({ toolResults }) =>
      toolResults.length === 0 ? call("Bash", { command: "touch again" }) : say("Done.");
    await session.send("Again.").result();
    expect(ofType(await eventsOf(t.host, session.id), "capstan.permission_decided").at(-1)).toMatchObject({
      decision: "deny",
      decided_by: "error",
      reason: expect.stringContaining("Permission could not be decided"),
    });
    expect(existsSync(join(t.cwd, "again"))).toBe(false);
  });

  test("when whoever is asked throws", async () => {
    await using t = await testHost(touches);
    const session = await t.host.startSession({
      agent: bash,
      cwd: t.cwd,
      askPermission: () => {
        throw new Error("the terminal is on fire");
      },
    });
    await session.send("Touch.").result();
    expect(ofType(await eventsOf(t.host, session.id), "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "person:error", reason: expect.stringContaining("the terminal is on fire") },
    ]);
    expect(existsSync(join(t.cwd, "made"))).toBe(false);
  });

  test("when whoever is asked never answers and the turn is ended", async () => {
    await using t = await testHost(touches);
    const asked = Promise.withResolvers<AbortSignal>();
    const session = await t.host.startSession({
      agent: bash,
      cwd: t.cwd,
      askPermission: ({ signal }) => {
        asked.resolve(signal);
        return new Promise(() => {});
      },
    });
    const turn = session.send("Touch.");
    const signal = await asked.promise;
    await session.interrupt();
    await turn.result();
    expect(signal.aborted).toBe(true);
    expect(ofType(await eventsOf(t.host, session.id), "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "turn:ended" },
    ]);
    expect(existsSync(join(t.cwd, "made"))).toBe(false);
    expect(await t.host.approvals.list({ status: "pending" })).toEqual([]);
  });

  test.each([
    ["throws", {}, () => Promise.reject(new Error("broken"))],
    ["gives nonsense", {}, () => Promise.resolve({ hookSpecificOutput: { permissionDecision: "perhaps" } } as object)],
    ["hangs", { timeout: 1 }, () => new Promise<object>(() => {})],
  ] as const)("when the gate itself %s: the CLI does not run the call", async (_how, more, hook) => {
    using directory = temporaryDirectory();
    await using model = await scriptedModel(touches);
    const [matcher] = gateMatchers();
    const { ANTHROPIC_API_KEY: key, ...environment } = testEnvironment(model.url);
    const turn = query({
      prompt: "Touch.",
      options: {
        cwd: directory.path,
        env: {
          ...environment,
          ANTHROPIC_AUTH_TOKEN: key,
          HOME: directory.path,
          CLAUDE_CONFIG_DIR: directory.path,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
        tools: ["Bash"],
        // Were the gate passed over, the call would run.
        allowedTools: ["Bash"],
        settingSources: [],
        hooks: { PreToolUse: [{ ...matcher, ...more, hooks: [hook] }] },
      },
    });
    for await (const message of turn) if (message.type === "result") break;
    expect(model.requests.at(-1)?.toolResults).toMatchObject([{ isError: true }]);
    expect(existsSync(join(directory.path, "made"))).toBe(false);
  });
});

/** The gate as the engine registers it. */
function gateMatchers(): NonNullable<NonNullable<ReturnType<typeof gate>>["PreToolUse"]> {
  const host = {
    newEventId: failUnasked,
    emit: failUnasked,
    prepare: failUnasked,
    execute: failUnasked,
    elicit: failUnasked,
  };
  return gate(host, { tools: [], waitForAnnouncement: failUnasked, oneCall: false })["PreToolUse"] ?? [];
}

function failUnasked(): never {
  throw new Error("not asked");
}
