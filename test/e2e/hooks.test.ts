import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import type { BeforeTool, SessionHooks } from "../../src/core/ports/hooks.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { agent, eventsOf, ofType, testHost, type TestHost } from "../support/host.ts";
import { call, say, type Script } from "../support/scripted-model.ts";

/** Runs one command, then says what came of it. */
const runs =
  (command: string): Script =>
  (request) =>
    request.toolResults.length === 0
      ? call("Bash", { command })
      : say(`I saw ${request.toolResults.map(({ text }) => text).join(" | ")}`);
const read = (t: TestHost, name: string): string | undefined => {
  const file = join(t.cwd, name);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};
const yolo = (more: Partial<AgentInput> = {}): AgentInput =>
  agent({ tools: ["Bash"], permissions: { mode: "yolo" }, ...more });

async function until(done: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await done())) await sleep(20);
}

/** One message in a new session; the log is read when the session is closed, with all its hooks. */
async function oneTurn(t: TestHost, given: { agent?: AgentInput; hooks?: SessionHooks; message?: string }) {
  const session = await t.host.startSession({
    agent: given.agent ?? yolo(),
    cwd: t.cwd,
    ...(given.hooks && { hooks: given.hooks }),
  });
  const result = await session.send(given.message ?? "Work.").result();
  await session.close();
  return { session, result, events: await eventsOf(t.host, session.id) };
}

describe("beforeTool", () => {
  test("changes the input before rules see it, and what it left is what runs", async () => {
    await using t = await testHost(runs("echo secret > out.txt"));
    const { events } = await oneTurn(t, {
      agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash(echo safe)", "Edit(./out.txt)"] } }),
      hooks: { beforeTool: ({ input }) => ({ input: { ...input, command: "echo safe > out.txt" } }) },
    });
    expect(read(t, "out.txt")).toBe("safe\n");
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "allow", input: { command: "echo safe > out.txt" } },
    ]);
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([
      { hook: "before_tool", name: "before_tool 1", outcome: "changed", call_id: expect.stringMatching(/^toolu_/) },
    ]);
    expect(ofType(events, "agent.tool_use")).toMatchObject([{ input: { command: "echo secret > out.txt" } }]);
  });

  test("cannot change a call into one that a rule denies", async () => {
    await using t = await testHost(runs("echo fine"));
    const { events } = await oneTurn(t, {
      agent: yolo({ permissions: { mode: "yolo", deny: ["Bash(touch *)"] } }),
      hooks: { beforeTool: () => ({ input: { command: "touch evil.txt" } }) },
    });
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "rule:deny Bash(touch *)" },
    ]);
  });

  test("denies, and the model is told why", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    const { events } = await oneTurn(t, {
      hooks: { beforeTool: { name: "guard", run: () => ({ deny: "Not on my watch." }) } },
    });
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "hook:guard", reason: "Not on my watch." },
    ]);
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([
      { outcome: "denied", name: "guard", message: "Not on my watch." },
    ]);
    expect(ofType(events, "agent.tool_result")).toMatchObject([{ outcome: "denied" }]);
    expect(t.model.requests.at(-1)?.last).toContain("Not on my watch.");
  });

  test("that tries to allow what a rule denies has failed", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    const allowing = (() => ({ behavior: "allow", allow: true })) as unknown as BeforeTool;
    const { events } = await oneTurn(t, {
      agent: yolo({ permissions: { mode: "yolo", deny: ["Bash(touch *)"] } }),
      hooks: {
        beforeTool: [
          { name: "careless", onFailure: "continue", run: allowing },
          { name: "widening", onFailure: "continue", run: () => ({}) },
        ],
      },
    });
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([
      { name: "careless", outcome: "failed" },
      { name: "widening", outcome: "passed" },
    ]);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "rule:deny Bash(touch *)" },
    ]);
  });

  test("is what people see: they are asked about what it left, also after a restart", async () => {
    await using t = await testHost(runs("echo one >> out.txt"));
    let looked = 0;
    const beforeTool: BeforeTool = ({ input }) => {
      looked += 1;
      return { input: { ...input, command: `${String(input["command"])}; echo two >> out.txt` } };
    };
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"] }),
      cwd: t.cwd,
      hooks: { beforeTool },
    });
    const result = await session.send("Work.").result();
    expect(result.stopReason.type).toBe("requires_action");
    await session.close();
    const [approval] = await t.host.approvals.list();
    expect(approval?.request.input).toMatchObject({ command: "echo one >> out.txt; echo two >> out.txt" });

    // The hook is not asked again: it would change what was approved.
    await using second = await t.another();
    await second.approvals.answer(approval?.id ?? "", { behavior: "allow" }, { by: "me" });
    await using resumed = await second.resumeSession(session.id, { hooks: { beforeTool } });
    await until(() => resumed.state.stopReason?.type === "end_turn");
    expect(read(t, "out.txt")).toBe("one\ntwo\n");
    expect(looked).toBe(1);
    expect(ofType(await eventsOf(second, session.id), "capstan.permission_decided")).toMatchObject([
      { decided_by: "person:me", input: { command: "echo one >> out.txt; echo two >> out.txt" } },
    ]);
  });

  test("sees calls of host tools, which get the changed input", async () => {
    const paid: number[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: z.object({ amount: z.number() }),
      handler: async ({ amount }) => {
        paid.push(amount);
        return "paid";
      },
    });
    await using t = await testHost((request) =>
      request.toolResults.length === 0 ? call("mcp__capstan__pay", { amount: 500 }) : say("Done."),
    );
    const session = await t.host.startSession({
      agent: agent({ permissions: { mode: "yolo" } }),
      cwd: t.cwd,
      tools: [pay],
      hooks: { beforeTool: { matcher: "pay", run: () => ({ input: { amount: 5 } }) } },
    });
    await session.send("Pay.").result();
    expect(paid).toEqual([5]);
  });

  test("that hangs is given up in time, and the call is denied", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    let stopped = false;
    const { events } = await oneTurn(t, {
      hooks: {
        beforeTool: {
          name: "sleeper",
          timeoutMs: 50,
          run: ({ signal }) => {
            signal.addEventListener("abort", () => (stopped = true));
            return new Promise<undefined>(() => {});
          },
        },
      },
    });
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(stopped).toBe(true);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "hook:sleeper" },
    ]);
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([
      { outcome: "failed", message: "The hook took longer than 50 ms." },
    ]);
  });

  test("that hangs ends with the turn when that is interrupted", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    const waiting = Promise.withResolvers<void>();
    const session = await t.host.startSession({
      agent: yolo(),
      cwd: t.cwd,
      hooks: {
        beforeTool: () => {
          waiting.resolve();
          return new Promise<undefined>(() => {});
        },
      },
    });
    const turn = session.send("Work.");
    await waiting.promise;
    await session.interrupt();
    expect((await turn.result()).stopReason.type).toBe("end_turn");
    await session.close();
    const events = await eventsOf(t.host, session.id);
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([{ outcome: "failed" }]);
    expect(ofType(events, "agent.tool_result").map(({ outcome }) => outcome)).not.toContain("completed");
  });
});

describe("beforePrompt", () => {
  test("changes what is sent, and the log has what was sent", async () => {
    await using t = await testHost(() => say("Hello."));
    const { events } = await oneTurn(t, {
      message: "My number is 1234.",
      hooks: {
        beforePrompt: [({ text }) => ({ text: text.replace("1234", "****") }), () => ({ add: "Answer in French." })],
      },
    });
    expect(ofType(events, "user.message")).toMatchObject([
      {
        content: [
          { type: "text", text: "My number is ****." },
          { type: "text", text: "Answer in French." },
        ],
      },
    ]);
    expect(t.model.requests[0]?.transcript).toContain("My number is ****.");
    expect(t.model.requests[0]?.transcript).toContain("Answer in French.");
    expect(JSON.stringify(events)).not.toContain("1234");
    expect(ofType(events, "capstan.hook_ran").map(({ outcome }) => outcome)).toEqual(["changed", "changed"]);
  });

  test("denies a message: nothing is stored of it, nothing is sent, and the session goes on", async () => {
    await using t = await testHost(() => say("Hello."));
    const session = await t.host.startSession({
      agent: agent(),
      cwd: t.cwd,
      hooks: { beforePrompt: ({ text }) => (text.includes("password") ? { deny: "No passwords." } : undefined) },
    });
    await expect(session.send("The password is x.").result()).rejects.toMatchObject({
      code: "hook_denied",
      message: "The message was not sent: No passwords.",
      data: { hook: "before_prompt 1" },
    });
    expect(t.model.requests).toEqual([]);
    expect((await session.send("Hi.").result()).text).toBe("Hello.");
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "user.message")).toHaveLength(1);
    expect(ofType(events, "capstan.hook_ran").map(({ outcome }) => outcome)).toEqual(["denied", "passed"]);
  });

  test("keeps the order of messages, however long it takes", async () => {
    await using t = await testHost(() => say("Hello."));
    const first = Promise.withResolvers<undefined>();
    const session = await t.host.startSession({
      agent: agent(),
      cwd: t.cwd,
      hooks: { beforePrompt: ({ text }) => (text === "one" ? first.promise : undefined) },
    });
    const turns = [session.send("one"), session.send("two")];
    first.resolve(undefined);
    await Promise.all(turns.map((turn) => turn.result()));
    const sent = ofType(await eventsOf(t.host, session.id), "user.message");
    expect(sent.map(({ content }) => content)).toMatchObject([[{ text: "one" }], [{ text: "two" }]]);
  });

  test.for(["interrupt", "close"] as const)("that hangs is let go by %s, and the message is not sent", async (end) => {
    // Nothing comes to its agent, so that it needs none.
    await using t = await testHost(() => say("Hello."), { capacity: { max_idle_processes: 0 } });
    const waiting = Promise.withResolvers<void>();
    const session = await t.host.startSession({
      agent: agent(),
      cwd: t.cwd,
      hooks: {
        beforePrompt: () => {
          waiting.resolve();
          return new Promise<undefined>(() => {});
        },
      },
    });
    const turn = session.send("Hi.").result();
    const refused = expect(turn).rejects.toMatchObject({ code: "hook_denied" });
    await waiting.promise;
    await session[end]();
    await refused;
    expect(t.model.requests).toEqual([]);
  });
});

describe("hooks after the fact", () => {
  test("see the call as it ran, its outcome, the end of the turn and of the session", async () => {
    await using t = await testHost(runs("echo hello"));
    const seen: unknown[] = [];
    const see =
      (hook: string) =>
      ({ signal: _signal, ...facts }: { signal: AbortSignal }): void =>
        void seen.push({ hook, ...facts });
    const { events, session } = await oneTurn(t, {
      hooks: {
        beforeTool: ({ input }) => ({ input: { ...input, command: "echo goodbye" } }),
        afterTool: see("afterTool"),
        onTurnEnd: see("onTurnEnd"),
        onSessionEnd: see("onSessionEnd"),
      },
    });
    const common = { sessionId: session.id, agent: "tester", cwd: t.cwd };
    expect(seen).toMatchObject([
      {
        ...common,
        hook: "afterTool",
        tool: "Bash",
        input: { command: "echo goodbye" },
        outcome: "completed",
        isError: false,
        content: [{ type: "text", text: expect.stringContaining("goodbye") }],
        mode: "yolo",
      },
      {
        ...common,
        hook: "onTurnEnd",
        stopReason: { type: "end_turn" },
        text: expect.stringContaining("I saw goodbye"),
        usd: session.state.usd,
        usage: session.state.usage,
      },
      { ...common, hook: "onSessionEnd", turns: 1, toolCalls: 1, usd: session.state.usd },
    ]);
    const order = events.map(({ type }) => type);
    const ran = ofType(events, "capstan.hook_ran");
    expect(ran.map(({ hook, outcome }) => `${hook} ${outcome}`)).toEqual([
      "before_tool changed",
      "after_tool passed",
      "on_turn_end passed",
      "on_session_end passed",
    ]);
    expect(events.findIndex(({ id }) => id === ran[1]?.id)).toBeLessThan(order.indexOf("session.status_idle"));
    expect(order.slice(-3)).toEqual(["session.status_idle", "capstan.hook_ran", "capstan.hook_ran"]);
  });

  test("hold up the end of the turn and nothing before it; their failure is only logged", async () => {
    const release = Promise.withResolvers<void>();
    await using t = await testHost((request) => {
      if (request.toolResults.length === 0) return call("Bash", { command: "echo hello" });
      // The model is asked again although the hook has not come back.
      release.resolve();
      return say("Done.");
    });
    const { events, result } = await oneTurn(t, {
      hooks: {
        afterTool: async () => {
          await release.promise;
          throw new Error("The disk is full.");
        },
        onTurnEnd: () => {
          throw new Error("Nobody listens.");
        },
      },
    });
    expect(result.text).toBe("Done.");
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([
      { hook: "after_tool", outcome: "failed", message: "The disk is full." },
      { hook: "on_turn_end", outcome: "failed", message: "Nobody listens." },
    ]);
  });

  test("that hang do not keep an interrupted turn from ending, nor a session from being closed", async () => {
    await using t = await testHost(runs("echo hello"));
    const waiting = Promise.withResolvers<void>();
    const session = await t.host.startSession({
      agent: yolo(),
      cwd: t.cwd,
      hooks: {
        afterTool: () => {
          waiting.resolve();
          return new Promise(() => {});
        },
      },
    });
    const turn = session.send("Work.");
    await waiting.promise;
    await until(() => t.model.requests.length === 2);
    await session.interrupt();
    expect((await turn.result()).stopReason.type).toBe("end_turn");
    await session.close();
    expect(ofType(await eventsOf(t.host, session.id), "capstan.hook_ran")).toMatchObject([{ outcome: "failed" }]);
  });
});

describe("hooks of an agent file", () => {
  test("are commands that are told the facts as JSON and answer JSON", async () => {
    await using t = await testHost(runs("echo hello > out.txt"));
    writeFileSync(
      join(t.cwd, "change.mjs"),
      `const facts = JSON.parse((await Array.fromAsync(process.stdin)).join(""));
       console.log(JSON.stringify({ input: { ...facts.input, command: "echo " + facts.hook + " " + facts.tool + " > out.txt" } }));`,
    );
    const { events, session } = await oneTurn(t, {
      agent: yolo({
        hooks: {
          before_tool: [{ name: "change", command: [process.execPath, "change.mjs"], matcher: "Bash(echo *)" }],
          after_tool: [{ command: "cat > after.json" }],
          on_turn_end: [{ command: "cat > turn.json" }],
          on_session_end: [{ command: "cat > session.json" }],
        },
      }),
    });
    expect(read(t, "out.txt")).toBe("before_tool Bash\n");
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { input: { command: "echo before_tool Bash > out.txt" } },
    ]);
    expect(JSON.parse(read(t, "after.json") ?? "")).toMatchObject({
      hook: "after_tool",
      session_id: session.id,
      call_id: expect.any(String),
      input: { command: "echo before_tool Bash > out.txt" },
      outcome: "completed",
      is_error: false,
    });
    expect(JSON.parse(read(t, "turn.json") ?? "")).toMatchObject({ stop_reason: { type: "end_turn" } });
    expect(JSON.parse(read(t, "session.json") ?? "")).toMatchObject({ turns: 1, tool_calls: 1 });
  });

  test("deny with exit code 2, before the program's own are asked", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    let asked = false;
    const { events } = await oneTurn(t, {
      agent: yolo({ hooks: { before_tool: [{ name: "gate", command: "echo 'Not today.' >&2; exit 2" }] } }),
      hooks: { beforeTool: () => void (asked = true) },
    });
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(asked).toBe(false);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "deny", decided_by: "hook:gate", reason: "Not today." },
    ]);
  });

  test("deny a message", async () => {
    await using t = await testHost(() => say("Hello."));
    await using session = await t.host.startSession({
      agent: agent({
        hooks: { before_prompt: [{ command: "grep -q secret && { echo 'No secrets.' >&2; exit 2; } || true" }] },
      }),
      cwd: t.cwd,
    });
    await expect(session.send("a secret").result()).rejects.toMatchObject({ code: "hook_denied" });
    expect((await session.send("no such thing").result()).text).toBe("Hello.");
  });

  test("go on when they say so, although they fail", async () => {
    await using t = await testHost(runs("touch fine.txt"));
    const { events } = await oneTurn(t, {
      agent: yolo({ hooks: { before_tool: [{ command: ["no-such-program"], on_failure: "continue" }] } }),
    });
    expect(read(t, "fine.txt")).toBe("");
    expect(ofType(events, "capstan.hook_ran")).toMatchObject([{ outcome: "failed" }]);
  });

  test("that hang are killed with all they started at their time limit", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    const late = "(sleep 1; touch late.txt) & sleep 600";
    const { events } = await oneTurn(t, {
      agent: yolo({
        hooks: { before_tool: [{ name: "sleeper", command: late, timeout_ms: 100 }] },
      }),
    });
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([{ decided_by: "hook:sleeper" }]);
    // Longer than what it left behind would have taken.
    await sleep(1500);
    expect([read(t, "evil.txt"), read(t, "late.txt")]).toEqual([undefined, undefined]);
  });

  test("that hang are killed when the turn is interrupted", async () => {
    await using t = await testHost(runs("touch evil.txt"));
    const hanging = "echo $$ > hook.pid; exec sleep 600";
    const session = await t.host.startSession({
      agent: yolo({ hooks: { before_tool: [{ command: hanging }] } }),
      cwd: t.cwd,
    });
    const turn = session.send("Work.");
    await until(() => read(t, "hook.pid") !== undefined);
    await session.interrupt();
    expect((await turn.result()).stopReason.type).toBe("end_turn");
    await session.close();
    expect(read(t, "evil.txt")).toBeUndefined();
    expect(ofType(await eventsOf(t.host, session.id), "capstan.hook_ran")).toMatchObject([{ outcome: "failed" }]);
  });

  test("speak of tools that exist", async () => {
    await using t = await testHost(() => say("Hello."));
    const wrong = agent({ hooks: { before_tool: [{ command: "true", matcher: "Bahs" }] } });
    await expect(t.host.startSession({ agent: wrong, cwd: t.cwd })).rejects.toMatchObject({
      code: "invalid_agent",
      message: expect.stringMatching(/^hooks: unknown tool "Bahs".*Did you mean Bash\?/),
    });
    await expect(
      t.host.startSession({
        agent: agent(),
        cwd: t.cwd,
        hooks: { beforeTool: { matcher: "Bahs", run: () => undefined } },
      }),
    ).rejects.toMatchObject({ code: "invalid_agent" });
    expect(await t.host.sessions()).toEqual([]);
  });
});
