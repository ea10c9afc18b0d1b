import { describe, expect, test } from "vitest";
import type { EngineFact } from "../../src/core/ports/engine.ts";
import { translate } from "../../src/engines/claude/sdk/from-sdk-message.ts";
import {
  draftsOf,
  draftsOfType,
  factsOf,
  type Message,
  previewsOf,
  recording,
  RECORDINGS,
  steps,
} from "./recordings.ts";

/** Previews and the events they become, in order and short: what a client that follows the stream sees. */
function previewTexts(facts: readonly EngineFact[]): string[] {
  return facts.flatMap((fact) => {
    if (fact.kind === "event") return fact.draft.id === undefined ? [] : [`${fact.draft.type} ${fact.draft.id}`];
    if (fact.kind === "turn_ended") return ["turn_ended"];
    if (fact.kind !== "preview") return [];
    const { preview } = fact;
    if (preview.type === "event_start") return [`start ${preview.event.type} ${preview.event.id}`];
    return preview.type === "capstan.event_withdrawn" ? [`withdrawn ${preview.event_id}`] : [];
  });
}

function deltasOf(facts: readonly EngineFact[], id: string): string {
  return previewsOf(facts)
    .map((preview) => (preview.type === "event_delta" && preview.event_id === id ? preview.delta.content.text : ""))
    .join("");
}

const STREAMED = RECORDINGS.filter(({ messages }) => messages.some((message) => message.type === "stream_event"));

describe.each(STREAMED)("in $name", ({ messages }) => {
  const facts = factsOf(messages);
  const starts = previewsOf(facts).flatMap((preview) => (preview.type === "event_start" ? [preview.event] : []));
  const events = draftsOf(facts);
  const withdrawn = previewsOf(facts).flatMap((preview) =>
    preview.type === "capstan.event_withdrawn" ? [preview.event_id] : [],
  );

  test("every preview ends once: as the event with its id and type, or withdrawn", () => {
    const ended = [...events.filter((draft) => draft.id !== undefined).map((draft) => draft.id), ...withdrawn];
    expect(new Set(ended).size).toBe(ended.length);
    for (const { id, type } of starts) {
      expect(ended).toContain(id);
      const event = events.find((draft) => draft.id === id);
      if (event !== undefined) expect(event.type).toBe(type);
    }
  });

  test("the deltas of a preview are the text of its event", () => {
    for (const draft of events) {
      if (!starts.some(({ id }) => id === draft.id)) continue;
      const text =
        draft.type === "agent.message"
          ? draft.content.map((block) => (block.type === "text" ? block.text : "")).join("")
          : draft.type === "agent.thinking"
            ? draft.thinking
            : undefined;
      expect(deltasOf(facts, draft.id ?? "")).toBe(text);
    }
  });

  test("no delta stands before its start or after its end", () => {
    const open = new Set<string>();
    for (const fact of facts) {
      if (fact.kind === "event" && fact.draft.id !== undefined) open.delete(fact.draft.id);
      if (fact.kind !== "preview") continue;
      const { preview } = fact;
      if (preview.type === "event_start") open.add(preview.event.id);
      else if (preview.type === "event_delta") expect(open).toContain(preview.event_id);
      else open.delete(preview.event_id);
    }
    expect([...open]).toEqual([]);
  });
});

describe("an answer", () => {
  test("that is streamed whole becomes the events its previews announced", () => {
    expect(previewTexts(factsOf(recording("turns", "tools"))).slice(0, 4)).toEqual([
      "start agent.thinking id1",
      "agent.thinking id1",
      "start agent.message id2",
      "agent.message id2",
    ]);
  });

  test("that is cut off keeps its finished blocks; the open one is withdrawn when the next answer starts", () => {
    expect(previewTexts(factsOf(recording("streams", "cut off")))).toEqual([
      "start agent.thinking id1",
      "agent.thinking id1",
      "start agent.message id2",
      "withdrawn id2",
      "start agent.message id3",
      "agent.message id3",
      "turn_ended",
    ]);
  });

  test("that comes again whole, without a stream, takes no id of the one that was cut off", () => {
    expect(previewTexts(factsOf(recording("streams", "cut off, then repeated whole"))).slice(0, 6)).toEqual([
      "start agent.message id1",
      "withdrawn id1",
      "start agent.message id2",
      "withdrawn id2",
      "agent.message id3",
      "turn_ended",
    ]);
  });

  test("that is cut off in a call keeps the text before it, and the call is not told", () => {
    const facts = factsOf(recording("streams", "cut off after a block"));
    expect(previewTexts(facts)).toEqual([
      "start agent.message id1",
      "agent.message id1",
      "start agent.message id2",
      "agent.message id2",
      "turn_ended",
    ]);
    expect(draftsOfType(facts, "agent.tool_use")).toEqual([]);
  });

  test("that never comes whole is withdrawn before the turn ends", () => {
    expect(previewTexts(factsOf(recording("streams", "cut off again and again")))).toEqual([
      "start agent.message id1",
      "withdrawn id1",
      "start agent.message id2",
      "withdrawn id2",
      "turn_ended",
    ]);
  });

  test("that is interrupted in its text keeps what was said", () => {
    const facts = factsOf(recording("streams", "interrupted in text"));
    expect(previewTexts(facts).slice(0, 3)).toEqual(["start agent.message id1", "agent.message id1", "turn_ended"]);
    expect(deltasOf(facts, "id1")).toBe("word word word word word ");
  });

  test("that is interrupted in its thinking is withdrawn", () => {
    expect(previewTexts(factsOf(recording("streams", "interrupted in thinking")))).toEqual([
      "start agent.thinking id1",
      "withdrawn id1",
      "turn_ended",
    ]);
  });
});

describe("what a subagent says", () => {
  const crew = recording("subagents", "two and a nested one, then one again");
  const spoken = crew.find(
    (message) =>
      message.type === "assistant" &&
      message.parent_tool_use_id !== null &&
      JSON.stringify(message).includes("working"),
  ) as Message;

  test("takes no preview of the primary line, which stays open", () => {
    const open = steps(recording("turns", "tools")).find(({ after }) => after.openBlocks[0]?.type === "agent.message");
    if (open === undefined) throw new Error("no preview of a message is ever open");
    const { facts, state } = translate(open.after, spoken);
    expect(state.openBlocks).toEqual(open.after.openBlocks);
    const [draft, ...others] = draftsOf(facts);
    expect(others).toEqual([]);
    expect(open.after.openBlocks.map(({ id }) => id)).not.toContain(draft?.id);
    expect(previewsOf(facts)).toEqual([]);
  });

  test("is not previewed, even if the CLI should stream it", () => {
    const streamed = recording("turns", "tools")
      .filter((message) => message.type === "stream_event")
      .map((message) => ({ ...message, parent_tool_use_id: "toolu_first" }));
    expect(streamed.length).toBeGreaterThan(0);
    expect(factsOf(streamed)).toEqual([]);
  });
});
