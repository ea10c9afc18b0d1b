import { array, assert, nat, property, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyMeter, streamMeter, type UsageMeter, type UsageReading } from "../../src/gateway/usage.ts";
import { sse, textDelta, usage } from "./support.ts";

const START = {
  type: "message_start",
  message: { id: "msg_1", usage: { ...usage(120, 1), cache_read_input_tokens: 30 } },
};
const DELTA = { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 42 } };
const STOP = { type: "message_stop" };
const WHOLE = sse(START, { type: "ping" }, textDelta("Grüße 🎉"), DELTA, STOP);
const WHOLE_READING = {
  usage: { ...usage(120, 42), cache_read_input_tokens: 30 },
  stopReason: "tool_use",
  proven: "all",
};

function read(
  meter: UsageMeter,
  chunks: readonly Uint8Array[],
): UsageReading & { finished: boolean; complete: boolean } {
  for (const chunk of chunks) meter.push(chunk);
  return { ...meter.reading(), finished: meter.finished, complete: meter.complete };
}
const readStream = (text: string) => read(streamMeter(), [Buffer.from(text)]);

describe("the meter of a stream", () => {
  test("reads the same from every way to cut a stream in two", () => {
    const bytes = Buffer.from(WHOLE);
    for (let at = 0; at <= bytes.length; at += 1)
      expect(read(streamMeter(), [bytes.subarray(0, at), bytes.subarray(at)])).toEqual({
        ...WHOLE_READING,
        finished: true,
        complete: true,
      });
  });

  test("reads the same byte by byte", () => {
    const bytes = [...Buffer.from(WHOLE)].map((byte) => Uint8Array.of(byte));
    expect(read(streamMeter(), bytes)).toMatchObject(WHOLE_READING);
  });

  test("reads the same from any chunks", () => {
    const bytes = Buffer.from(WHOLE);
    assert(
      property(array(nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
        expect(read(streamMeter(), chunks)).toMatchObject(WHOLE_READING);
      }),
    );
  });

  test("leaves the bytes alone", () => {
    const bytes = Buffer.from(WHOLE);
    streamMeter().push(bytes);
    expect(bytes.toString()).toBe(WHOLE);
  });

  test("reads lines that end in CR LF", () => {
    expect(readStream(WHOLE.replaceAll("\n", "\r\n"))).toMatchObject({ ...WHOLE_READING, complete: true });
  });

  test("reads events without names and without a space after the colon", () => {
    expect(readStream(WHOLE.replaceAll(/event: .*\n/g, "").replaceAll("data: ", "data:"))).toMatchObject(WHOLE_READING);
  });

  test.each([
    ["nothing", "", usage(0, 0)],
    ["only the start", sse(START), { ...usage(120, 1), cache_read_input_tokens: 30 }],
    ["a text", sse(START, textDelta("x".repeat(400))), { ...usage(120, 100), cache_read_input_tokens: 30 }],
    [
      "thinking",
      sse(START, { type: "content_block_delta", delta: { type: "thinking_delta", thinking: "x".repeat(200) } }),
      { ...usage(120, 50), cache_read_input_tokens: 30 },
    ],
    [
      "a tool's input",
      sse(START, { type: "content_block_delta", delta: { type: "input_json_delta", partial_json: "x".repeat(200) } }),
      { ...usage(120, 50), cache_read_input_tokens: 30 },
    ],
    [
      "a signature, which is not text",
      sse(START, { type: "content_block_delta", delta: { type: "signature_delta", signature: "x".repeat(200) } }),
      { ...usage(120, 1), cache_read_input_tokens: 30 },
    ],
    [
      "half a delta",
      `${sse(START)}data: ${JSON.stringify(textDelta("x".repeat(200)))}`,
      { ...usage(120, 1), cache_read_input_tokens: 30 },
    ],
  ])("estimates the output of a stream that was cut after %s", (_name, text, expected) => {
    expect(readStream(text)).toEqual({
      usage: expected,
      stopReason: null,
      proven: expected.input_tokens > 0 ? "input" : "nothing",
      finished: false,
      complete: false,
    });
  });

  test("takes the latest figures, which are cumulative", () => {
    const first = {
      type: "message_delta",
      delta: { stop_reason: null },
      usage: { output_tokens: 5, input_tokens: 200 },
    };
    const second = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } };
    expect(readStream(sse(START, first, second))).toMatchObject({
      usage: { input_tokens: 200, output_tokens: 9, cache_read_input_tokens: 30 },
      stopReason: "end_turn",
    });
  });

  test("does not take an end without figures for the final usage", () => {
    const bare = { type: "message_delta", delta: { stop_reason: "end_turn" } };
    expect(readStream(sse(START, textDelta("x".repeat(400)), bare, STOP))).toMatchObject({
      usage: { output_tokens: 100 },
      stopReason: "end_turn",
      proven: "input",
      complete: true,
    });
  });

  test("does not take the model's words for events", () => {
    const words = 'data: {"type":"message_delta","usage":{"output_tokens":1000000}}\n\n{"type":"message_stop"}';
    expect(readStream(sse(START, textDelta(words)))).toMatchObject({ proven: "input", finished: false });
    expect(readStream(sse(START, textDelta(words))).usage.output_tokens).toBeLessThan(100);
  });

  test("knows an error inside the stream", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "busy" } };
    expect(readStream(sse(START, error))).toMatchObject({ finished: true, complete: false, proven: "input" });
    // Before the first word it is all that there was.
    expect(readStream(sse(error))).toMatchObject({
      finished: true,
      complete: false,
      proven: "all",
      usage: usage(0, 0),
    });
  });

  test.each([
    ["no JSON", 'data: {message_start\n\ndata: "message_delta" }{\n\n'],
    ["other JSON", 'data: null\n\ndata: ["message_start"]\n\ndata: "message_stop"\n\n'],
    [
      "figures that are none",
      sse({ type: "message_start", message: { usage: { input_tokens: "9", output_tokens: -1 } } }),
    ],
    ["no usage at all", sse({ type: "message_start" }, { type: "message_start", message: 7 })],
    ["a page", "<html>\n<body>\n</html>"],
    ["zeros", "\0".repeat(100)],
  ])("survives %s", (_name, text) => {
    expect(readStream(text)).toMatchObject({ usage: usage(0, 0), finished: false, proven: "nothing" });
  });

  test("survives any bytes, and goes on after them", () => {
    assert(
      property(uint8Array({ maxLength: 200 }), (noise) => {
        expect(read(streamMeter(), [noise, Buffer.from(`\n${WHOLE}`)])).toMatchObject({
          complete: true,
          proven: "all",
        });
      }),
    );
  });

  test("skips a line that is too long to keep, and reads on after it", () => {
    const long = Buffer.alloc(3 << 20, "x");
    expect(read(streamMeter(), [Buffer.from("data: "), long, Buffer.from(`\n${WHOLE}`)])).toMatchObject(WHOLE_READING);
  });
});

describe("the meter of an answer in one piece", () => {
  test.each([
    [{ cache_creation: { ephemeral_1h_input_tokens: 40 } }, { cache_creation_1h_input_tokens: 40 }],
    // Never more than all that was written.
    [{ cache_creation: { ephemeral_1h_input_tokens: 400 } }, { cache_creation_1h_input_tokens: 50 }],
    [{ server_tool_use: { web_search_requests: 2 } }, { web_search_requests: 2 }],
    [{ cache_creation: null, server_tool_use: { web_search_requests: "2" } }, {}],
  ])("reads %j", (more, read) => {
    const written = { ...usage(3, 4), cache_creation_input_tokens: 50 };
    const meter = bodyMeter();
    meter.push(Buffer.from(JSON.stringify({ usage: { ...written, ...more } })));
    expect(meter.reading().usage).toEqual({ ...written, ...read });
  });

  test("reads usage and stop reason, wherever it is cut", () => {
    const bytes = Buffer.from(
      JSON.stringify({ content: [{ text: "é" }], stop_reason: "end_turn", usage: usage(3, 4) }),
    );
    for (let at = 0; at <= bytes.length; at += 1)
      expect(read(bodyMeter(), [bytes.subarray(0, at), bytes.subarray(at)])).toEqual({
        usage: usage(3, 4),
        stopReason: "end_turn",
        proven: "all",
        finished: false,
        complete: true,
      });
  });

  test.each([
    ["cut", '{"usage":{"input_t', 5],
    ["not JSON", "<html>", 2],
    ["without usage", "{}", 1],
  ])("estimates from its length when it is %s", (_name, text, output) => {
    expect(read(bodyMeter(), [Buffer.from(text)])).toMatchObject({ usage: usage(0, output), proven: "nothing" });
  });
});
