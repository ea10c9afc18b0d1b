import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { PermissionAnswer } from "../../src/core/session/approval.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { say, type Script, toolUse } from "../support/scripted-model.ts";
import { sharedSession } from "../support/shared-session.ts";

const ME = { by: "me" };
const once =
  (...blocks: ReturnType<typeof toolUse>[]): Script =>
  (request) => {
    if (request.last.includes("again")) return say("hello again");
    return request.toolResults.length === 0 ? { blocks } : say("done");
  };
const touch = once(toolUse("Bash", { command: "touch ran" }));

async function until<T>(look: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (done(value)) return value;
    await sleep(20);
  }
}

describe("an answer", () => {
  test("that is none of the words allows nothing", async () => {
    await using t = await testHost(touch);
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"] }),
      cwd: t.cwd,
      // As a program without types may do.
      askPermission: () => JSON.parse(`{ "allowed": false }`) as PermissionAnswer,
    });
    await session.send("Work.").result();
    expect(existsSync(join(t.cwd, "ran"))).toBe(false);
    const [approval] = await t.host.approvals.list();
    expect(approval?.answer).toMatchObject({ behavior: "deny", by: "error" });
  });

  test("with an edited input is remembered only by rules that the person names", async () => {
    await using t = await testHost(touch);
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    const [approval] = await t.host.approvals.list();
    const edited = { behavior: "allow", input: { command: "true" }, scope: "always" } as const;
    await expect(t.host.approvals.answer(approval?.id ?? "", edited, ME)).rejects.toMatchObject({
      code: "invalid_input",
    });
    await t.host.approvals.answer(approval?.id ?? "", { ...edited, rules: ["Bash(true)"] }, ME);
    expect(await t.host.grants.list()).toMatchObject([{ rule: "Bash(true)" }]);
  });

  test("that comes too late to be acted on is in the log with whoever gave it", async () => {
    await using t = await testHost(touch);
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    await session.hibernate();
    await using second = await t.another();
    const [approval] = await second.approvals.list();
    await second.approvals.answer(approval?.id ?? "", { behavior: "allow", scope: "always" }, { by: "anna" });
    await session.interrupt();
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "user.tool_confirmation")).toMatchObject([{ by: "anna", scope: "always" }]);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "turn:ended" },
    ]);
    expect(existsSync(join(t.cwd, "ran"))).toBe(false);
  });

  const asking = sharedSession(() => agent({ tools: ["Bash"] }));
  test.each([0, 4, 8, 12, 20])("at the instant of an interrupt leaves a session that goes on (%i)", async (turns) => {
    const { t, session } = await asking(once(toolUse("Bash", { command: "touch ran" })));
    expect((await session.send("Work.").result()).stopReason.type).toBe("requires_action");
    await session.hibernate();
    const [approval] = await t.host.approvals.list({ status: "pending" });
    const answered = t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    await Promise.all([answered, session.interrupt()]);
    expect(await session.send("Say it again.").result()).toMatchObject({ text: "hello again" });
  });

  test.each([0, 4, 8, 12, 20])(
    "is not waited for any more after an interrupt, whenever the session hibernates (%i)",
    async (turns) => {
      const { session } = await asking(once(toolUse("Bash", { command: "touch ran" })));
      expect((await session.send("Work.").result()).stopReason.type).toBe("requires_action");
      const interrupted = session.interrupt();
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await Promise.all([interrupted, session.hibernate()]);
      expect(session.state.stopReason?.type).not.toBe("requires_action");
      expect(await session.send("Say it again.").result()).toMatchObject({ text: "hello again" });
    },
  );

  test("does not hold for what a rule denies and the call came to mean while the person thought", async () => {
    await using t = await testHost((request) =>
      request.toolResults.length === 0
        ? { blocks: [toolUse("Write", { file_path: join(t.cwd, "drafts/note.txt"), content: "hello" })] }
        : say("done"),
    );
    const [drafts, secrets] = [join(t.cwd, "drafts"), join(t.cwd, "secrets")];
    for (const directory of [drafts, secrets]) mkdirSync(directory);
    const session = await t.host.startSession({
      agent: agent({ tools: ["Write"], permissions: { deny: ["Edit(./secrets/**)"] } }),
      cwd: t.cwd,
      askPermission: () => {
        rmSync(drafts, { recursive: true });
        symlinkSync(secrets, drafts);
        return { behavior: "allow" };
      },
    });
    await session.send("Work.").result();
    expect(existsSync(join(secrets, "note.txt"))).toBe(false);
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "rule:deny Edit(./secrets/**)" },
    ]);
  });

  test("to a question can be given where spending must be agreed to as well", async () => {
    const tea = { question: "Tea?", header: "Tea", multiSelect: false, options: [{ label: "yes" }, { label: "no" }] };
    const questions = [{ ...tea, options: tea.options.map(({ label }) => ({ label, description: label })) }];
    await using t = await testHost((request) => {
      if (request.last.includes("yes")) return say("done");
      return {
        blocks: [
          request.index === 0 ? toolUse("Bash", { command: "true" }) : toolUse("AskUserQuestion", { questions }),
        ],
      };
    });
    const session = await t.host.startSession({
      agent: agent({
        tools: ["Bash", "AskUserQuestion"],
        permissions: { allow: ["Bash"] },
        budget: { usd: 2, ask_at: 0.0001 },
      }),
      cwd: t.cwd,
    });
    await session.send("Work.").result();
    expect(session.state.overspent).toBeDefined();
    const [approval] = await t.host.approvals.list();
    expect(approval?.request.kind).toBe("question");
    await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow", answers: { "Tea?": "yes" } }, ME);
    await until(
      async () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
  });

  test("is for the place where the call was made, and for no other", async () => {
    await using t = await testHost(touch);
    const elsewhere = join(t.home, "elsewhere");
    mkdirSync(elsewhere, { recursive: true });
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.close();
    const moved = await t.host.resumeSession(session.id, { cwd: elsewhere });
    await moved.send("Work.").result();
    await moved.close();
    const [approval] = await t.host.approvals.list();
    await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
    await expect(t.host.resumeSession(session.id, { cwd: t.cwd })).rejects.toMatchObject({ code: "invalid_input" });
    const resumed = await t.host.resumeSession(session.id);
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect([existsSync(join(elsewhere, "ran")), existsSync(join(t.cwd, "ran"))]).toEqual([true, false]);
  });
});

const SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
const book = (ran: string[]) =>
  defineTool({
    name: "book",
    description: "Books a seat.",
    input: z.object({ seat: z.string() }),
    handler: async ({ seat }) => {
      ran.push(seat);
      await sleep(300);
      return `booked ${seat}`;
    },
  });
const booking = (...seats: string[]): Script => once(...seats.map((seat) => toolUse("mcp__capstan__book", { seat })));

describe("a call of a tool of the host that a dead process left", () => {
  test("is run by one alone, though the session rests while its person is asked", async () => {
    const ran: string[] = [];
    await using t = await testHost(booking("A", "B"));
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [book(ran)] });
    await session.send("Work.").result();
    await session.close();
    const resumed = await t.host.resumeSession(session.id, { tools: [book(ran)] });
    const [first] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(first?.id ?? "", { behavior: "allow" }, ME);
    const [second] = await until(
      () => t.host.approvals.list({ status: "pending" }),
      (list) => list.length === 1,
    );
    await resumed.hibernate();
    await t.host.approvals.answer(second?.id ?? "", { behavior: "allow" }, ME);
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(ran).toEqual(["A", "B"]);
    expect(t.model.requests.at(-1)?.toolResults.map(({ text }) => text)).toEqual(["booked A", "booked B"]);
  });

  test("is not run with marks in place of the secrets that only the process knew", async () => {
    const ran: string[] = [];
    await using t = await testHost(booking("A", SECRET));
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [book(ran)] });
    await session.send("Work.").result();
    await session.close();
    const resumed = await t.host.resumeSession(session.id, { tools: [book(ran)] });
    const [first] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(first?.id ?? "", { behavior: "allow" }, ME);
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(ran).toEqual(["A"]);
    expect(t.model.requests.at(-1)?.last).toContain("Make the call again");
  });
});

describe("what a person is shown of an edit", () => {
  test("is a change however long it is", async () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `old ${index}`).join("\n");
    const content = Array.from({ length: 20_000 }, (_, index) => `n${index}`).join("\n");
    await using t = await testHost((request) => {
      const file = { file_path: join(t.cwd, "long.txt") };
      if (request.toolResults.length === 0) return { blocks: [toolUse("Read", { ...file, limit: 5 })] };
      return { blocks: [toolUse("Write", { ...file, content })] };
    });
    writeFileSync(join(t.cwd, "long.txt"), before);
    const session = await t.host.startSession({ agent: agent({ tools: ["Read", "Write"] }), cwd: t.cwd });
    expect((await session.send("Work.").result()).stopReason.type).toBe("requires_action");
    const [approval] = await t.host.approvals.list();
    expect(approval?.request.diff).toContain("+n19999\n-old 0\n");
  });
});
