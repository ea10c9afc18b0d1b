import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, type ModelRequest, type Reply, say, text, toolUse } from "../support/scripted-model.ts";

const crew = agent({
  tools: ["Bash"],
  permissions: { allow: ["Bash"] },
  subagents: {
    worker: { description: "works", instructions: "You are WORKER.", tools: ["Bash"] },
    boss: { description: "delegates", instructions: "You are BOSS." },
  },
});

const isBoss = (request: ModelRequest): boolean => JSON.stringify(request.body.system).includes("BOSS");

function script(request: ModelRequest): Reply {
  if (request.toolResults.length > 0) return say(request.agent === "main" ? "all done" : "report ready");
  if (request.agent === "main" && request.last.includes("continue")) {
    const id = /agentId: (\w+)/.exec(request.transcript)?.[1] ?? "";
    return call("SendMessage", { to: id, message: "one more thing", summary: "go on" });
  }
  if (request.agent === "main")
    return {
      blocks: [
        toolUse("Agent", { description: "first", subagent_type: "worker", prompt: "do it" }),
        toolUse("Agent", { description: "second", subagent_type: "boss", prompt: "have it done" }),
      ],
    };
  if (isBoss(request)) return call("Agent", { description: "nested", subagent_type: "worker", prompt: "do it" });
  return { blocks: [text("working"), toolUse("Bash", { command: "echo effect >> effects.txt" })] };
}

test("each subagent, nested ones too, is a thread with its own events and model requests", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: crew, cwd: t.cwd });
  expect((await session.send("review").result()).text).toBe("all done");
  expect(readFileSync(join(t.cwd, "effects.txt"), "utf8")).toBe("effect\neffect\n");

  const events = await eventsOf(t.host, session.id);
  const threads = ofType(events, "session.thread_created");
  expect(threads.map((thread) => thread.agent_name).toSorted()).toEqual(["boss", "worker", "worker"]);
  const boss = threads.find((thread) => thread.agent_name === "boss");
  expect(threads.filter((thread) => thread.parent_thread_id === boss?.session_thread_id)).toHaveLength(1);

  const requests = t.model.requests.filter((request) => request.agent !== "main");
  for (const thread of threads) {
    const of = events.filter(
      (event) => "session_thread_id" in event && event.session_thread_id === thread.session_thread_id,
    );
    const types = of.map((event) => event.type);
    expect(types.at(-1)).toBe("session.thread_status_idle");
    expect(types).toContain("agent.tool_use");
    expect(types).toContain("agent.tool_result");
    const spans = types.filter((type) => type === "span.model_request_end").length;
    expect(spans).toBe(requests.filter((request) => thread.session_thread_id.endsWith(request.agent)).length);
  }
  expect(ofType(events, "span.model_request_end").filter((span) => span.session_thread_id === "UNATTRIBUTED")).toEqual(
    [],
  );
  expect(Object.values(session.state.threads).map((thread) => thread.status)).toEqual(["idle", "idle", "idle"]);
});

test("a finished subagent can be spoken to again after the process was ended, and keeps its thread", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: crew, cwd: t.cwd });
  await session.send("review").result();
  const [worker] = ofType(await eventsOf(t.host, session.id), "session.thread_created");
  await session.hibernate();
  await session.send("continue").result();

  const again = t.model.requests.findLast((request) => request.agent !== "main");
  expect(worker?.session_thread_id.endsWith(again?.agent ?? "?")).toBe(true);
  expect(again?.transcript).toContain("echo effect >> effects.txt");
  expect(again?.transcript).toContain("one more thing");
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "session.thread_created")).toHaveLength(3);
  expect(ofType(events, "session.thread_status_running").map((event) => event.session_thread_id)).toEqual([
    worker?.session_thread_id,
  ]);
});

test("a tool that only a subagent has is denied to the agent itself", async () => {
  await using t = await testHost((request) =>
    request.toolResults.length > 0 ? say("ok") : call("Bash", { command: "touch widened" }),
  );
  const session = await t.host.startSession({
    agent: agent({
      permissions: { mode: "yolo" },
      subagents: { worker: { description: "works", instructions: "Work.", tools: ["Bash"] } },
    }),
    cwd: t.cwd,
  });
  await session.send("try").result();
  const [decision] = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
  expect(decision).toMatchObject({ tool: "Bash", decision: "deny", decided_by: "agent:tools" });
});
