import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentInput } from "../../../src/core/agent/agent-definition.ts";
import { ofType, testHost } from "../../support/host.ts";
import { call, type ModelRequest, type Reply, say, text, toolUse } from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import { LOOKUP } from "./desks.ts";
import { given, ME } from "./people.ts";
import { callsIn, waitUntilEnded, nameIn, type Stage, steps, waiting } from "./stage.ts";

type Line = "main" | "worker" | "boss" | "clerk";
const MARKS = { worker: "You are WORKER.", boss: "You are BOSS.", clerk: "You are CLERK." } as const;

const CREW: Partial<AgentInput> = {
  tools: ["Bash"],
  model: "claude-sonnet-4-5",
  permissions: { allow: ["Bash"] },
  subagents: {
    worker: { description: "works", instructions: MARKS.worker, tools: ["Bash", "Write"], model: "claude-haiku-4-5" },
    boss: { description: "delegates", instructions: MARKS.boss },
  },
};

/** Whose request it is, by its instructions: engines differ in how they name a line. */
function lineOf({ body }: ModelRequest): Line {
  const system = JSON.stringify(body.system);
  const found = Object.entries(MARKS).find(([, mark]) => system.includes(mark));
  return (found?.[0] as Line | undefined) ?? "main";
}

const delegate = (to: string, id: string) =>
  toolUse("Agent", { description: id, subagent_type: to, prompt: `do it for ${id}` }, id);

/**
 * The main line starts a worker and a boss together; the boss starts a worker of its own. The ids of their calls begin with
 * `first`. The result of such a call names the subagent as `agentId: …`, which a message is sent to.
 */
const reviews =
  (first: string) =>
  (request: ModelRequest): Reply => {
    const line = lineOf(request);
    if (request.toolResults.length > 0) return say(line === "main" ? "all done" : `${line} is ready`);
    if (request.last.includes("one more thing")) return say("more is done");
    if (line === "main" && request.last.includes("continue")) {
      const [, id = ""] = [...request.transcript.matchAll(/agentId: (\w+)/g)].at(-1) ?? [];
      return call("SendMessage", { to: id, message: "one more thing", summary: "go on" });
    }
    if (line === "main") return { blocks: [delegate("worker", `${first}_worker`), delegate("boss", `${first}_boss`)] };
    if (line === "boss") return { blocks: [delegate("worker", `${first}_nested`)] };
    return { blocks: [text("working"), toolUse("Bash", { command: "echo effect >> effects.txt" })] };
  };

export function subagents(stage: Stage): void {
  stage.capability(
    "subagents",
    () => {
      const shared = sharedSession(() => stage.agent(CREW));

      test("run as threads, together and nested, with their own tools, model, events and costs", async () => {
        const { t, session, events: logged, requests } = await shared(reviews("toolu_one"));
        const result = await session.send("review").result();
        expect(result.text).toBe("all done");
        expect(readFileSync(join(t.cwd, "effects.txt"), "utf8")).toBe("effect\neffect\n");
        const events = await logged();
        const threads = ofType(events, "session.thread_created");
        expect(Object.fromEntries(threads.map(({ call_id: id, agent_name: name }) => [id, name]))).toEqual({
          toolu_one_worker: "worker",
          toolu_one_boss: "boss",
          toolu_one_nested: "worker",
        });
        const boss = threads.find(({ agent_name: name }) => name === "boss");
        const nested = threads.find(({ call_id: id }) => id === "toolu_one_nested");
        expect(nested?.parent_thread_id).toBe(boss?.session_thread_id);
        expect(boss?.parent_thread_id).toBeNull();
        for (const { session_thread_id: id, agent_name: name } of threads) {
          const of = events.filter((event) => "session_thread_id" in event && event.session_thread_id === id);
          const types = of.map(({ type }) => type);
          expect(types[0]).toBe("session.thread_created");
          expect(types.at(-1)).toBe("session.thread_status_idle");
          for (const type of ["agent.tool_use", "capstan.permission_decided", "agent.tool_result", "agent.message"])
            expect(types).toContain(type);
          const spans = ofType(of, "span.model_request_end");
          expect(spans).toHaveLength(2);
          if (name === "worker")
            expect(spans.map(({ model }) => model)).toEqual(["claude-haiku-4-5", "claude-haiku-4-5"]);
        }
        const workers = requests().filter((request) => lineOf(request) === "worker");
        for (const { body } of workers)
          expect(body.tools?.map(({ name }) => name).toSorted()).toEqual(stage.offeredTools(["Bash", "Write"]));
        expect(
          requests()
            .at(-1)
            ?.toolResults.map(({ text: told }) => told)
            .join(),
        ).toContain("worker is ready");
        // What the engine counted is what the gateway metered, model by model.
        const [usage] = ofType(events, "session.usage").slice(-1);
        const spans = ofType(events, "span.model_request_end");
        const spent = Object.groupBy(spans, ({ model }) => model);
        expect(Object.keys(usage?.usage.engine ?? {}).toSorted()).toEqual(Object.keys(spent).toSorted());
        for (const [model, list = []] of Object.entries(spent))
          expect(usage?.usage.engine[model]?.usd).toBeCloseTo(
            list.reduce((sum, { usd }) => sum + (usd ?? 0), 0),
            10,
          );
        expect(result.usd).toBeCloseTo(usage?.usage.usd ?? 0, 10);
      });

      test("do not lend their tools to the agent that started them", async () => {
        const { t, session, events } = await shared(() => say("not yet"));
        const path = join(t.cwd, "widened.txt");
        t.model.script = steps(call("Write", { file_path: path, content: "x" }));
        await session.setMode("yolo");
        await session.send("try").result();
        await session.setMode("normal");
        expect(existsSync(path)).toBe(false);
        expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ is_error: true }]);
      });

      test("continue when they are sent a message, also in another process, on the thread they had", async () => {
        const { session, events, requests } = await shared(reviews("toolu_two"));
        await session.send("review").result();
        const threads = ofType(await events(), "session.thread_created");
        await session.hibernate();
        const asked = requests().length;
        await session.send("continue").result();
        const again = requests()
          .slice(asked)
          .find((request) => lineOf(request) !== "main");
        expect(again?.transcript).toContain("one more thing");
        // What it was told and did before.
        expect(again?.transcript).toContain("do it for toolu_two_");
        expect(again && callsIn(again).results).toHaveLength(1);
        expect(ofType(await events(), "session.thread_created")).toEqual(threads);
        const [running, ...others] = ofType(await events(), "session.thread_status_running");
        expect(others).toEqual([]);
        expect(threads.map(({ session_thread_id: id }) => id)).toContain(running?.session_thread_id);
      });

      if (stage.has("custom_tools"))
        test("that wait for a result get it after their process is gone, on their own thread", async () => {
          const clerk = { description: "looks up", instructions: MARKS.clerk, tools: ["lookup"] };
          await using t = await testHost((request) => {
            const [result] = request.toolResults;
            // A subagent that is driven alone has its task as its first message.
            if (JSON.stringify(request.body.messages[0]).includes("do it for toolu_clerk"))
              return result === undefined
                ? call(nameIn(request, "lookup"), { key: "a" })
                : say(`Report: ${result.text}`);
            return result === undefined ? { blocks: [delegate("clerk", "toolu_clerk")] } : say("All is finished.");
          });
          const agent = stage.agent({ custom_tools: [{ ...LOOKUP }], subagents: { clerk } });
          const session = await t.host.startSession({ agent, cwd: t.cwd });
          expect((await session.send("Work.").result()).stopReason.type).toBe("requires_action");
          const [thread] = ofType(await t.host.read(session.id), "session.thread_created");
          await session.hibernate();
          const [approval] = await waiting(t.host, session);
          expect(approval?.request).toMatchObject({ agent: "clerk", session_thread_id: thread?.session_thread_id });
          await t.host.approvals.answer(approval?.id ?? "", given("blue"), ME);
          await waitUntilEnded(session);
          expect(t.model.requests.at(-1)?.toolResults).toMatchObject([
            { text: expect.stringContaining("Report: blue") },
          ]);
          expect(ofType(await t.host.read(session.id), "user.custom_tool_result")).toMatchObject([
            { session_thread_id: thread?.session_thread_id, outcome: "completed" },
          ]);
        });
    },
    stage.expectRefusal({ agent: CREW }),
  );
}
