import { stripVTControlCharacters } from "node:util";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { RunView } from "../../src/cli/follow/run-view.ts";
import type { Preview } from "../../src/core/events/events.ts";
import { example } from "../support/event-examples.ts";

const piece = (text: string): Preview => ({
  type: "event_delta",
  event_id: "a1",
  delta: { type: "content_delta", content: { type: "text", text } },
});

test("a message that is told from its start again is printed once", () => {
  const out = new PassThrough();
  const view = new RunView(out as unknown as NodeJS.WriteStream);
  const start: Preview = { type: "event_start", event: { id: "a1", type: "agent.message" } };
  for (const item of [start, piece("One, "), piece("two"), start, piece("One, two, three"), start, piece("One, ")])
    view.show(item);
  view.show(piece("two, three, four"));
  view.show({ ...example("agent.message", { id: "a1" }), seq: 1 });
  expect(stripVTControlCharacters(String(out.read()))).toBe("One, two, three, four\n");
});
