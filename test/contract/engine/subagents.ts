import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AgentInput } from "../../../src/core/agent-definition.ts";
import { ofType, testHost } from "../../support/host.ts";
import { call, type ModelRequest, type Reply, say, text, toolUse } from "../../support/scripted-model.ts";
import { given, LOOKUP, ME } from "./people.ts";
import { ended, nameIn, type Stage, waiting } from "./stage.ts";

type Line = "main" | "worker" | "boss" | "clerk";
const MARKS = { worker: "You are WORKER.", boss: "You are BOSS.", clerk: "You are CLERK." } as const;

const CREW: Partial<AgentInput> = {
  tools: ["Bash"],
  model: "claude-sonnet-4-5",
  permissions: { allow: ["Bash"] },
  subagents: {
    worker: { description: "works", instructions: MARKS.worker, tools: ["Bash"], model: "claude-haiku-4-5" },
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

/** The main line starts a worker and a boss together; the boss starts a worker of its own. */
function script(request: ModelRequest): Reply {
  const line = lineOf(request);
  if (request.toolResults.length > 0) return say(line === "main" ? "all done" : `${line} is ready`);
  if (line === "main" && request.last.includes("continue")) {
    const id = /agentId: (\w+)/.exec(request.transcript)?.[1] ?? "";
    return call("SendMessage", { to: id, message: "one more thing", summary: "go on" });
  }
  if (line === "main") return { blocks: [delegate("worker", "toolu_worker"), delegate("boss", "toolu_boss")] };
  if (line === "boss") return { blocks: [delegate("worker", "toolu_nested")] };
  return { blocks: [text("working"), toolUse("Bash", { command: "echo effect >> effects.txt" })] };
}

export function subagents(stage: Stage): void {
  stage.capability(
    "subagents",
    () => {
      test("run as threads, together and nested, with their own tools, model, events and costs", async () => {
        await using t = await testHost(script);
        const session = await t.host.startSession({ agent: stage.agent(CREW), cwd: t.cwd });
        const result = await session.send("review").result();
        expect(result.text).toBe("all done");
        expect(readFileSync(join(t.cwd, "effects.txt"), "utf8")).toBe("effect\neffect\n");
        const events = await t.host.read(session.id);
        const threads = ofType(events, "session.thread_created");
        expect(Object.fromEntries(threads.map(({ call_id: id, agent_name: name }) => [id, name]))).toEqual({
          toolu_worker: "worker",
          toolu_boss: "boss",
          toolu_nested: "worker",
        });
        const boss = threads.find(({ agent_name: name }) => name === "boss");
        const nested = threads.find(({ call_id: id }) => id === "toolu_nested");
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
        const workers = t.model.requests.filter((request) => lineOf(request) === "worker");
        for (const { body } of workers) expect(body.tools?.map(({ name }) => name)).toEqual(["Bash"]);
        expect(
          t.model.requests
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

      test("continue when they are sent a message, also in another process, on the thread they had", async () => {
        await using t = await testHost(script);
        const session = await t.host.startSession({ agent: stage.agent(CREW), cwd: t.cwd });
        await session.send("review").result();
        const [first] = ofType(await t.host.read(session.id), "session.thread_created");
        await session.hibernate();
        const asked = t.model.requests.length;
        await session.send("continue").result();
        const again = t.model.requests.slice(asked).find((request) => lineOf(request) !== "main");
        expect(again?.transcript).toContain("one more thing");
        expect(again?.transcript).toContain("effects.txt");
        const events = await t.host.read(session.id);
        expect(ofType(events, "session.thread_created")).toHaveLength(3);
        expect(ofType(events, "session.thread_status_running")).toMatchObject([
          { session_thread_id: first?.session_thread_id },
        ]);
      });

      test("do not lend their tools to the agent that started them", async () => {
        await using t = await testHost(({ toolResults }) =>
          toolResults.length > 0 ? say("ok") : call("Bash", { command: "touch widened" }),
        );
        const { subagents: crew } = CREW;
        const agent = stage.agent({ permissions: { mode: "yolo" }, ...(crew !== undefined && { subagents: crew }) });
        const session = await t.host.startSession({ agent, cwd: t.cwd });
        await session.send("try").result();
        const events = await t.host.read(session.id);
        expect(ofType(events, "agent.tool_result")).toMatchObject([{ is_error: true }]);
        expect(ofType(events, "capstan.permission_decided").filter(({ decision }) => decision === "allow")).toEqual([]);
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
          await ended(session);
          expect(t.model.requests.at(-1)?.toolResults).toMatchObject([
            { text: expect.stringContaining("Report: blue") },
          ]);
          expect(ofType(await t.host.read(session.id), "user.custom_tool_result")).toMatchObject([
            { session_thread_id: thread?.session_thread_id, outcome: "completed" },
          ]);
        });
    },
    stage.refused({ agent: CREW }),
  );
}
