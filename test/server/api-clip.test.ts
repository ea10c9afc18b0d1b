import { expect, test } from "vitest";
import { type LoggedEvent, sessionEvent } from "../../src/core/events/events.ts";
import { clippedEvent } from "../../src/server/stream/clipped-event.ts";
import { EVENT_EXAMPLES, example } from "../support/event-examples.ts";

const LONG = "x".repeat(5_000);
const at = (event: object): LoggedEvent => ({ ...event, seq: 7 }) as LoggedEvent;

function image(data: string): LoggedEvent {
  const source = { type: "base64" as const, data, media_type: "image/png" };
  return at(example("agent.tool_result", { content: [{ type: "image", source }] }));
}

function clipThinking(text: string): LoggedEvent {
  return clippedEvent(at(example("agent.thinking", { thinking: text })), 200);
}

/** Every string of a value, with its field. */
function strings(value: unknown, field = ""): (readonly [field: string, text: string])[] {
  if (typeof value === "string") return [[field, value]];
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => strings(item, field));
  return Object.entries(value).flatMap(([name, one]) => strings(one, name));
}

/** The same with a long suffix on every string. */
function longer(value: unknown): unknown {
  if (typeof value === "string") return value + LONG;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(longer);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, longer(one)]));
}

test("returns an event without long texts unchanged", () => {
  for (const event of Object.values(EVENT_EXAMPLES).map(at)) expect(clippedEvent(event, 200)).toBe(event);
});

test("keeps ids, types, names, hashes, times, rules and the shape of every event", () => {
  for (const whole of Object.values(EVENT_EXAMPLES).map((event) => at(longer(event) as object))) {
    const { clipped, ...shown } = clippedEvent(whole, 200);
    const before = strings(whole);
    expect(strings(shown).map(([field]) => field)).toEqual(before.map(([field]) => field));
    for (const [index, [field, text]] of strings(shown).entries()) {
      const [, original = ""] = before[index] ?? [];
      if (/^(?:id|type|name|model|tool|hash|signature|rules|remember|commit)$|_(?:id|ids|name|at|sha256)$/.test(field))
        expect(text, `${whole.type} ${field}`).toBe(original);
      else expect([original, original.slice(0, 200)], `${whole.type} ${field}`).toContain(text);
    }
    expect(clipped === true).toBe(JSON.stringify(shown) !== JSON.stringify(whole));
  }
});

test("cuts a tool's input and output at any depth, whatever the field's name", () => {
  const input = { name: LONG, id: LONG, deep: [{ content: LONG, short: "kept" }], count: 3 };
  expect(clippedEvent(at(example("agent.tool_use", { input })), 300)).toMatchObject({
    clipped: true,
    seq: 7,
    input: { name: LONG.slice(0, 300), id: LONG.slice(0, 300), deep: [{ content: LONG.slice(0, 300), short: "kept" }] },
  });
  const result = at(example("agent.tool_result", { content: [{ type: "text", text: LONG }], detail: LONG }));
  expect(clippedEvent(result, 1_000)).toMatchObject({ content: [{ text: LONG.slice(0, 1_000) }], clipped: true });
});

test("an image is complete or left out", () => {
  const small = image("AAAA");
  expect(clippedEvent(small, 200)).toBe(small);
  const photo = image("A".repeat(200_000));
  expect(clippedEvent(photo, 200)).toBe(photo);
  expect(clippedEvent(image("A".repeat(10_000_000)), 1_000_000)).toMatchObject({
    content: [{ type: "image", source: { type: "base64", data: "", media_type: "image/png" } }],
    clipped: true,
  });
});

test("a document has the same limit as a text, and images have a total limit", () => {
  const source = { type: "base64" as const, data: LONG, media_type: "application/pdf" };
  const pdf = at(example("agent.tool_result", { content: [{ type: "document", source }] }));
  expect(clippedEvent(pdf, 200)).toMatchObject({ content: [{ source: { data: "" } }], clipped: true });
  const photo = { type: "image" as const, source: { ...source, data: "A".repeat(1_500_000), media_type: "image/png" } };
  const album = clippedEvent(
    at(example("agent.tool_result", { content: Array.from({ length: 100 }, () => photo) })),
    200,
  );
  expect(JSON.stringify(album).length).toBeLessThan(6_100_000);
  expectValid(album);
  // An "image" in a tool's input is plain text.
  const given = at(example("agent.tool_use", { input: { ...photo.source } }));
  expect(clippedEvent(given, 200)).toMatchObject({ input: { data: "" }, clipped: true });
});

test("cuts thousands of blocks to a list of the first ones", () => {
  const block = { type: "text" as const, text: "x".repeat(20_000) };
  const content = Array.from({ length: 2_500 }, () => block);
  const shown = clippedEvent(at(example("agent.tool_result", { content })), 15_000);
  expect(shown).toMatchObject({ clipped: true, seq: 7 });
  expect(JSON.stringify(shown).length).toBeLessThan(800_000);
  expect(shown.type === "agent.tool_result" && shown.content?.length).toBeGreaterThan(40);
  expectValid(shown);
});

test("cuts an output of a million numbers, fields or short texts, and says how many there were", () => {
  const million = 1_000_000;
  const numbers = Array.from({ length: million }, (_, index) => index);
  const outputs: readonly (readonly [output: unknown, said: RegExp])[] = [
    [numbers, /"… 9\d{5} more"/],
    [{ rows: numbers.map((number) => ({ number, name: "row" })) }, /"… 9\d{5} more"/],
    [Object.fromEntries(numbers.slice(0, 200_000).map((number) => [`n${number}`, number])), /"…":"1\d{5} more"/],
    [{ ["k".repeat(3_000_000)]: 1 }, /"k{2000}":1/],
  ];
  for (const [output, said] of outputs) {
    const shown = clippedEvent(at(example("session.status_idle", { output })), 2_000);
    const text = JSON.stringify(shown);
    expect(text.length).toBeLessThan(300_000);
    expect(shown.clipped).toBe(true);
    expect(text).toMatch(said);
    expectValid(shown);
  }
  const list = at(example("capstan.input_delivered", { event_ids: numbers.map((number) => `sevt_${number}`) }));
  expect(JSON.stringify(clippedEvent(list, 2_000)).length).toBeLessThan(400_000);
  expectValid(clippedEvent(list, 2_000));
});

function expectValid(event: LoggedEvent): void {
  expect(sessionEvent.safeParse(event).error).toBeUndefined();
}

test("does not cut within a character", () => {
  expect(clipThinking(`${"x".repeat(199)}😀😀`)).toMatchObject({ thinking: "x".repeat(199) });
  expect(clipThinking(`${"x".repeat(198)}😀😀`)).toMatchObject({ thinking: `${"x".repeat(198)}😀` });
});
