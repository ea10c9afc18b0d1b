import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { preview, sessionEvent } from "../../../src/core/events/events.ts";
import { ofType } from "../../support/host.ts";
import { say, text, thinking, toolUse } from "../../support/scripted-model.ts";
import { type Desks, WORKER_TOOLS } from "./desks.ts";
import { callsIn, collect, nameIn, type Stage, steps } from "./stage.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/** Facts whose place among the others is no part of the contract: they belong to the process, the files or the gateway. */
const BESIDE = /^(?:span\.|capstan\.(?:process_started|prompt_rendered|checkpoint_taken|tool_progress))/;

export function turns(stage: Stage, { worker: shared }: Desks): void {
  describe("a turn", () => {
    test("is told from the message to idle, each fact once and in order", async () => {
      const { t, session, events, requests } = await shared(
        steps(
          { blocks: [thinking("hmm"), text("Let me look."), toolUse("Bash", { command: "echo hello > f.txt; ls" })] },
          say("There is one file."),
        ),
      );
      const result = await session.send("List the files.").result();
      expect(result).toMatchObject({
        stopReason: { type: "end_turn" },
        text: "Let me look.\nThere is one file.",
      });
      expect(readFileSync(join(t.cwd, "f.txt"), "utf8")).toBe("hello\n");
      const all = await events();
      expect(all.map(({ type }) => type).filter((type) => !BESIDE.test(type))).toEqual([
        "user.message",
        "session.status_running",
        "capstan.input_delivered",
        "agent.thinking",
        "agent.message",
        "agent.tool_use",
        "capstan.permission_decided",
        "agent.tool_result",
        "agent.message",
        "session.usage",
        "session.status_idle",
      ]);
      for (const event of all) expect(sessionEvent.safeParse(event).error?.issues ?? []).toEqual([]);
      // Blocks of one model message share its id: a history is rebuilt with the same borders.
      const [thought] = ofType(all, "agent.thinking");
      const [first, second] = ofType(all, "agent.message");
      expect(thought?.message_id).toBeDefined();
      expect(first?.message_id).toBe(thought?.message_id);
      expect(ofType(all, "agent.tool_use")[0]?.message_id).toBe(thought?.message_id);
      expect(second?.message_id).not.toBe(thought?.message_id);
      expect(requests()).toHaveLength(2);
    });

    test("asks the agent's model with its instructions and its tools, and the log says so", async () => {
      const { t, session, requests } = await shared(steps(say("ok")));
      await session.send("Hello.").result();
      const [request] = requests();
      expect(request?.body).toMatchObject({ model: "claude-opus-4-8", stream: true });
      expect(JSON.stringify(request?.body.system)).toContain("You are a test agent.");
      const own = ["hold", "meet", "find"];
      const names = (request?.body.tools ?? []).map(({ name }) => name);
      const wanted = [...WORKER_TOOLS, ...own.map((tool) => nameIn(request, tool))];
      expect(names.toSorted()).toEqual(stage.offeredTools(wanted));
      const [rendered] = ofType(await t.host.read(session.id), "capstan.prompt_rendered");
      expect(rendered).toMatchObject({ model: "claude-opus-4-8", cwd: t.cwd, engine: stage.name });
      expect(rendered?.tools.toSorted()).toEqual(names.toSorted());
    });

    test("has a span for each model request, and counts what it used itself, not what earlier turns did", async () => {
      const usage = { input_tokens: 700, output_tokens: 30, cache_read_input_tokens: 1_000 };
      const { session, events, requests } = await shared(steps(say("before"), { ...say("ok"), usage }));
      await session.send("Begin.").result();
      const result = await session.send("Hello.").result();
      const starts = ofType(await events(), "span.model_request_start");
      expect(starts).toHaveLength(2);
      const ends = ofType(await events(), "span.model_request_end");
      expect(ends.map((end) => end.model_request_start_id)).toEqual(starts.map(({ id }) => id));
      expect(ends[1]).toMatchObject({ model_usage: usage, http_status: 200, estimated: false });
      expect(result.usage).toMatchObject(usage);
      expect(result.usd).toBeGreaterThan(0);
      const counted = { input_tokens: 1_700, output_tokens: 30, usd: expect.closeTo(result.usd ?? 0, 10) as number };
      expect(ofType(await events(), "session.usage")[1]?.usage.engine).toEqual({ "claude-opus-4-8": counted });
      expect(requests()).toHaveLength(2);
    });

    test("takes text literally: it names no file and runs no command of the engine's", async () => {
      const { t, session, requests } = await shared(() => say("ok"));
      for (const message of ["/compact", "@/etc/passwd", "!`touch ran`"]) {
        await session.send(message).result();
        expect(requests().at(-1)?.last).toContain(message);
      }
      expect(requests().at(-1)?.transcript).not.toContain("root:");
      expect(existsSync(join(t.cwd, "ran"))).toBe(false);
    });

    test("takes images along with the text", async () => {
      const { session, requests } = await shared(steps(say("A dot.")));
      const source = { type: "base64", media_type: "image/png", data: PNG } as const;
      await session
        .send([
          { type: "text", text: "What is this?" },
          { type: "image", source },
        ])
        .result();
      const last = requests()
        .at(-1)
        ?.body.messages.findLast(({ role }) => role === "user");
      const blocks = typeof last?.content === "string" ? [] : (last?.content ?? []);
      expect(blocks.find(({ type }) => type === "image")).toMatchObject({ source });
      expect(requests().at(-1)?.last).toContain("What is this?");
    });

    test("gives the model its own thinking back, with its signature", async () => {
      const { session, requests } = await shared(
        steps({ blocks: [thinking("first I look"), toolUse("Bash", { command: "echo seen" })] }),
      );
      await session.send("Think.").result();
      const blocks = requests()
        .at(-1)
        ?.body.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
      expect(blocks?.findLast(({ type }) => type === "thinking")).toMatchObject({
        thinking: "first I look",
        signature: "c2lnbmF0dXJl",
      });
    });
  });

  describe("a preview", () => {
    test("starts, grows word by word, and carries the id of the event that it becomes", async () => {
      const { session, events } = await shared(() => ({ blocks: [thinking("let me see"), text("one two three")] }));
      const seen = await collect(session.send("Count."));
      const starts = seen.flatMap((item) => (item.type === "event_start" ? [item.event] : []));
      const [thought] = ofType(await events(), "agent.thinking");
      const [message] = ofType(await events(), "agent.message");
      expect(starts).toEqual([
        { id: thought?.id, type: "agent.thinking" },
        { id: message?.id, type: "agent.message" },
      ]);
      const deltas = seen.flatMap((item) =>
        item.type === "event_delta" && item.event_id === message?.id ? [item.delta.content.text] : [],
      );
      expect(deltas.join("")).toBe("one two three");
      expect(deltas.length).toBeGreaterThan(1);
      // The event comes after all that was shown of it.
      const last = seen.findLastIndex((item) => item.type === "event_delta");
      expect(seen.findIndex(({ type }) => type === "agent.message")).toBeGreaterThan(last);
      expect((await events()).filter((event) => preview.safeParse(event).success)).toEqual([]);
    });

    test("of an answer that is cut off is withdrawn, and only the repeated answer is an event", async () => {
      const { session, events } = await shared(
        steps(say("This is cut off in the middle", { dropAfter: 5 }), say("whole answer")),
      );
      const seen = await collect(session.send("Speak."));
      const started = seen.flatMap((item) => (item.type === "event_start" ? [item.event.id] : []));
      const withdrawn = seen.flatMap((item) => (item.type === "capstan.event_withdrawn" ? [item.event_id] : []));
      expect(withdrawn).toEqual([started[0]]);
      expect(ofType(await events(), "agent.message")).toMatchObject([{ content: [{ text: "whole answer" }] }]);
      expect(ofType(await events(), "agent.message")[0]?.id).not.toBe(withdrawn[0]);
      const spans = ofType(await events(), "span.model_request_end");
      expect(spans.some(({ is_error: isError, estimated }) => isError === true && estimated)).toBe(true);
      expect(spans.at(-1)).toMatchObject({ is_error: false, estimated: false });
    });

    test("of a cut answer that had called a tool runs nothing twice", async () => {
      const { t, session, requests } = await shared(
        steps(
          // The text and the whole call, but not the end of the message.
          { blocks: [text("Working."), toolUse("Bash", { command: "echo once >> cut.txt" })], dropAfter: 7 },
          (request) =>
            request.toolResults.length > 0
              ? say("done")
              : { blocks: [toolUse("Bash", { command: "echo once >> cut.txt" })] },
        ),
      );
      await session.send("Write once.").result();
      expect(readFileSync(join(t.cwd, "cut.txt"), "utf8")).toBe("once\n");
      const { calls, results } = callsIn(requests().at(-1));
      expect(calls.filter(({ input }) => JSON.stringify(input).includes("cut.txt"))).toHaveLength(1);
      expect(results.map(({ id }) => id).toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
    });
  });
}
