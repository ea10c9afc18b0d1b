import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { Cassette, RecordedAnswer, RecordedMessage } from "../../src/core/suite/cassette.ts";
import { once, respond } from "../../src/gateway/cassette/answer-parts.ts";
import { askedBy, shortHash } from "../../src/gateway/cassette/request-fingerprint.ts";
import { MessageReader, streamOf } from "../../src/gateway/cassette/message.ts";
import { placeholdersOf } from "../../src/gateway/cassette/placeholders.ts";
import { Player } from "../../src/gateway/cassette/player.ts";
import { recordResponse } from "../../src/gateway/cassette/recording.ts";
import { GatewayTapes } from "../../src/gateway/cassette/tapes.ts";
import type { UpstreamResponse } from "../../src/gateway/upstreams/upstream.ts";
import { cassetteOf } from "../support/cassettes.ts";

const AGENT_ID = "a3347b225aff2331b";
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("places", () => {
  const places = placeholdersOf({ WORKSPACE: "/tmp/x/workspace", TRIAL: "/tmp/x" }, [/pid \d+/g]);

  test.each([
    ["a directory in another", "/tmp/x/workspace/a and /tmp/x/b", "${WORKSPACE}/a and ${TRIAL}/b"],
    ["an id", `agentId: ${AGENT_ID}`, "agentId: ${AGENT}"],
    ["a session", `sesn_${"0".repeat(32)}`, "${SESSION_ID}"],
    ["a date and a time", "2026-11-15 and 2026-11-15T20:46:43Z", "${DATE} and ${TIME}"],
    ["how long it took", "duration_ms: 202", "duration_ms: ${NUMBER}"],
    ["what the case ignores", "pid 77 ended", "${IGNORED} ended"],
    ["a version, which a tool may mean", "version 1.2.3", "version 1.2.3"],
  ])("make %s the same in every run", (_what, text, normalised) => {
    expect(places.normalise(text)).toBe(normalised);
  });

  test("leave alone what is written in instructions", () => {
    const text = "Use API 1.2.3 from 2026-01-01 at 10.0.0.1.";
    expect(places.normaliseMeant(text)).toBe(text);
    expect(places.normaliseNotice(text)).not.toBe(text);
  });

  test("give an answer the directories and subagents of this run, and the model's own words as they were", () => {
    const one = placeholdersOf({ WORKSPACE: "/here" }, []);
    const other = placeholdersOf({ WORKSPACE: "/there" }, []);
    one.name(AGENT_ID, "agent-1");
    other.name("a0000000000000001", "agent-1");
    const said = `cat /here/a; echo \${WORKSPACE} $\{HOME} $\${x} ${AGENT_ID}`;
    expect(other.fill(one.hide(said))).toBe("cat /there/a; echo ${WORKSPACE} ${HOME} $${x} a0000000000000001");
  });
});

const message = (content: RecordedMessage["content"]): RecordedMessage => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-opus-4-8",
  content,
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 5 },
});

describe("a message", () => {
  const whole = message([
    { type: "thinking", thinking: "Well …", signature: "c2ln" },
    { type: "text", text: "Grüße\n" },
    { type: "tool_use", id: "toolu_1", name: "Read", input: { file_path: "/a", deep: [{ b: 1 }] } },
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: { query: "x" } },
    { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] },
  ]);

  test.each([1, 7, 4096])("is the same after it was streamed and read in pieces of %i bytes", (size) => {
    const stream = new TextEncoder().encode(streamOf(whole, { cut: false }));
    const reader = new MessageReader();
    for (let at = 0; at < stream.length; at += size) reader.push(stream.subarray(at, at + size));
    expect(reader.read()).toEqual({ message: whole, isWhole: true });
  });

  test("that was cut has no call whose input is not all there, and is cut again", () => {
    const frames = streamOf(whole, { cut: false }).split("\n\n");
    const within = frames.findIndex((frame) => frame.includes("input_json_delta"));
    const reader = new MessageReader();
    reader.push(new TextEncoder().encode(`${frames.slice(0, within + 1).join("\n\n")}\n\n`));
    const read = reader.read();
    expect(read).toMatchObject({ isWhole: false, message: { content: [{ type: "thinking" }, { type: "text" }] } });
    const again = streamOf(read?.message ?? whole, { cut: true });
    expect(again).not.toContain("message_stop");
    expect(again.match(/event: content_block_stop/g)).toHaveLength(1);
  });

  test("among what is no event is read all the same", () => {
    const reader = new MessageReader();
    reader.push(new TextEncoder().encode(`: ping\n\ndata: [DONE]\n\n${streamOf(whole, { cut: false })}`));
    expect(reader.read()?.isWhole).toBe(true);
  });
});

function framesIn(stream: string): unknown[] {
  return stream.split("\n\n").map((frame) => JSON.parse(frame.split("\ndata: ")[1] ?? "null") as unknown);
}

describe("an error in the stream", () => {
  const frame = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const begun = streamOf(message([{ type: "text", text: "Well" }]), { cut: true });

  test.each([
    ["instead of a message", frame],
    ["in the middle of one", begun + frame],
  ])("%s is recorded, and said again", async (_when, stream) => {
    const { signal } = new AbortController();
    let answer: RecordedAnswer | undefined;
    const done = (told: RecordedAnswer): void => void (answer = told);
    const response = recordResponse(
      { status: 200, headers: [], body: once(stream) },
      { stream: true, signal, finish: done },
    );
    expect(await text(response.body)).toBe(stream);
    const again = answer && respond(answer, { stream: true, signal });
    expect(again?.status).toBe(200);
    expect(framesIn(await text(again?.body ?? once("")))).toEqual(framesIn(stream));
  });
});

test("while a tape is held, requests get no answer, and are neither played nor recorded", async () => {
  const tapes = new GatewayTapes();
  const tape = tapes.insert("sesn_1", {
    session: "case",
    replay: { cassette: cassetteOf([]), acceptDrift: false },
    record: true,
    faults: [],
    kill: async () => {},
    places: {},
    ignore: [],
  });
  const ask = (signal: AbortSignal): Promise<UpstreamResponse> =>
    tapes.alone().send({
      origin: { sessionId: "sesn_1", engineAgentId: undefined, requestClass: "main" },
      method: "POST",
      path: "/v1/messages",
      headers: [],
      body: bytes({ model: "m", messages: [{ role: "user", content: "Hello" }] }),
      signal,
    });
  const enough = new AbortController();
  tape.hold(() => true);
  const { body } = await ask(enough.signal);
  enough.abort();
  expect(await text(body)).toBe("");
  expect([tape.drifts, tape.recording().threads]).toEqual([[], []]);
  tape.hold(() => false);
  expect(await ask(new AbortController().signal)).toMatchObject({ status: 400 });
  expect(tape.drifts).toMatchObject([{ what: "unrecorded" }]);
});

test("subagents with the same task are told apart by their prompts, in whatever order they ask", () => {
  const places = placeholdersOf({}, []);
  const request = (instructions: string) =>
    askedBy(
      bytes({ model: "m", system: instructions, messages: [{ role: "user", content: "Review the diff." }] }),
      places,
    );
  const line = (thread: string, instructions: string): Cassette["threads"][number] => {
    const { model, settings, news, ...asked } = request(instructions);
    return {
      session: "case",
      thread,
      class: "subagent",
      exchanges: [
        {
          model,
          settings,
          news,
          instructions: shortHash(asked.instructions),
          tools: shortHash(asked.tools),
          answer: { kind: "message", message: message([{ type: "text", text: instructions }]) },
        },
      ],
    };
  };
  const kinds = ["You know security.", "You know style."];
  const texts = Object.fromEntries(
    [...kinds.map((one) => request(one).instructions), []].map((value) => [shortHash(value), value]),
  );
  const cassette = {
    threads: kinds.map((one, index) => line(`agent-${index + 1}`, one)),
    texts,
  } as unknown as Cassette;
  const player = new Player(cassette, "case", { places, ignore: [] });
  const played = kinds.toReversed().map((one, index) =>
    player.next(request(one), {
      sessionId: "s",
      engineAgentId: `a000000000000000${index}`,
      requestClass: "subagent",
    }),
  );
  expect(played.map(({ drifts }) => drifts)).toEqual([[], []]);
  expect(played.map(({ answer }) => answer?.kind === "message" && answer.message.content)).toEqual(
    kinds.toReversed().map((text) => [{ type: "text", text }]),
  );
  expect(player.unplayed).toEqual([]);
});

test("a provider that knows fewer parts of the API is asked the same", () => {
  const places = placeholdersOf({}, []);
  const ask = (thinking: object): unknown =>
    askedBy(bytes({ model: "m", thinking, messages: [{ role: "user", content: "Hello" }] }), places);
  expect(ask({ type: "adaptive", display: "updates" })).toEqual(ask({ type: "adaptive" }));
  expect(ask({ type: "adaptive" })).not.toEqual(ask({ type: "disabled" }));
});

test("who pays, and where the cache is cut, are no part of what is asked", () => {
  const places = placeholdersOf({}, []);
  const ask = (system: unknown[], mark: object): unknown =>
    askedBy(
      bytes({ model: "m", system, messages: [{ role: "user", content: [{ type: "text", text: "Hello", ...mark }] }] }),
      places,
    );
  const text = { type: "text", text: "You help." };
  const billing = { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.325; cch=1" };
  expect(ask([billing, text], { cache_control: { type: "ephemeral" } })).toEqual(ask([text], {}));
});
