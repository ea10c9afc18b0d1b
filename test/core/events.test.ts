import { describe, expect, test } from "vitest";
import { type Preview, preview, sessionEvent } from "../../src/core/events/events.ts";
import { EVENT_EXAMPLES, example } from "../support/event-examples.ts";

const types = sessionEvent.options.map((option) => option.shape.type.value);

describe("every type of event", () => {
  test("has one schema and one example", () => {
    expect(Object.keys(EVENT_EXAMPLES).toSorted()).toEqual(types.toSorted());
  });

  test.each(types)("%s has an example that parses with nothing lost", (type) => {
    expect(sessionEvent.parse(EVENT_EXAMPLES[type])).toEqual(EVENT_EXAMPLES[type]);
  });

  test.each(types)("%s survives the way into the log and back", (type) => {
    expect(sessionEvent.parse(JSON.parse(JSON.stringify(EVENT_EXAMPLES[type])))).toEqual(EVENT_EXAMPLES[type]);
  });

  test.each(types)("%s needs an id", (type) => {
    const { id: _id, ...event } = EVENT_EXAMPLES[type];
    expect(sessionEvent.safeParse(event).success).toBe(false);
  });
});

describe("an event", () => {
  test("of a subagent keeps its thread", () => {
    const event = example("agent.message", { session_thread_id: "sthr_1_worker" });
    expect(sessionEvent.parse(event)).toEqual(event);
  });

  test.each([
    ["of a type that nobody knows", { type: "agent.dance", id: "sevt_1", processed_at: "" }],
    ["without a type", { id: "sevt_1", processed_at: "" }],
    [
      "with a stop reason that the API has not",
      { ...EVENT_EXAMPLES["session.status_idle"], stop_reason: { type: "max_turns" } },
    ],
    ["with an outcome that no call has", { ...EVENT_EXAMPLES["agent.tool_result"], outcome: "skipped" }],
    ["with a limit that no budget has", { ...EVENT_EXAMPLES["capstan.limit_reached"], which: "patience" }],
  ])("%s is refused", (_what, event) => {
    expect(sessionEvent.safeParse(event).success).toBe(false);
  });
});

describe("a preview", () => {
  test.each<[string, Preview]>([
    ["the start of a message", { type: "event_start", event: { id: "sevt_1", type: "agent.message" } }],
    [
      "a piece of it",
      {
        type: "event_delta",
        event_id: "sevt_1",
        delta: { type: "content_delta", content: { type: "text", text: "he" }, index: 0 },
      },
    ],
    ["its withdrawal", { type: "capstan.event_withdrawn", event_id: "sevt_1" }],
  ])("tells %s, and is no event", (_what, value) => {
    expect(preview.parse(value)).toEqual(value);
    expect(sessionEvent.safeParse(value).success).toBe(false);
  });
});
