import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sessionEvent } from "../../src/core/events/events.ts";
import { translate } from "../../src/engines/claude/sdk/from-sdk-message.ts";
import {
  draftsOf,
  draftsOfType,
  factsOf,
  type Message,
  recording,
  RECORDINGS,
  steps,
  translator,
} from "./recordings.ts";

const tools = recording("turns", "tools");
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The one message of a recording that holds this text. */
function holding(messages: readonly Message[], type: Message["type"], text: string): Message {
  const found = messages.filter((message) => message.type === type && JSON.stringify(message).includes(text));
  const [message] = found;
  if (message === undefined || found.length > 1) throw new Error(`${found.length} messages hold ${text}`);
  return message;
}

describe("what the process starts with", () => {
  test("is told once, with model, tools, directory and versions", () => {
    expect(draftsOfType(factsOf(tools), "capstan.prompt_rendered")).toEqual([
      {
        type: "capstan.prompt_rendered",
        model: "claude-opus-4-8",
        instructions_sha256: sha256("You are a test agent."),
        instructions_chars: 21,
        tools: ["Bash", "Read", "mcp__capstan__note", "mcp__capstan__picture", "mcp__files__note"],
        cwd: "/workspace",
        engine: "claude",
        engine_version: "2.1.325",
      },
    ]);
    expect(tools.filter((message) => message.type === "system" && message.subtype === "init")).toHaveLength(2);
  });

  test("has the size of Claude Code's own prompt, where the instructions stand behind it", () => {
    const appended = steps(tools, translator({ isAppended: true })).flatMap(({ facts }) => facts);
    expect(draftsOfType(appended, "capstan.prompt_rendered")).toMatchObject([{ engine_prompt_chars: 3200 }]);
  });

  test("is told again when the model was changed, and not a third time", () => {
    const rendered = draftsOfType(factsOf(recording("turns", "a change of model")), "capstan.prompt_rendered");
    expect(rendered.map(({ model }) => model)).toEqual(["claude-opus-4-8", "claude-haiku-4-5"]);
  });
});

describe("a message of the user's", () => {
  test("is delivered when the CLI starts on it, under the id it was sent with", () => {
    const uuid = "0190aaaa-bbbb-7ccc-dddd-000000000001";
    for (const state of ["queued", "completed", "cancelled"] as const)
      expect(translate(translator(), { type: "command_lifecycle", command_uuid: uuid, state }).facts).toEqual([]);
    expect(translate(translator(), { type: "command_lifecycle", command_uuid: uuid, state: "started" }).facts).toEqual([
      { kind: "delivered", eventIds: ["sevt_0190aaaabbbb7cccdddd000000000001"] },
    ]);
  });

  test("that comes during a call is delivered after the call's result and before the next answer", () => {
    const facts = factsOf(recording("turns", "a message during a call"));
    expect(
      facts.flatMap((fact) => (fact.kind === "preview" ? [] : [fact.kind === "event" ? fact.draft.type : fact.kind])),
    ).toEqual([
      "delivered",
      "capstan.prompt_rendered",
      "agent.tool_use",
      "tool_result",
      "delivered",
      "agent.message",
      "turn_ended",
    ]);
  });
});

describe("what the agent says and calls", () => {
  test("is told block by block, and joined by the model's message", () => {
    expect(draftsOf(factsOf(tools)).slice(1, 6)).toEqual([
      {
        type: "agent.thinking",
        id: "id1",
        message_id: "msg_1",
        thinking: "hmm",
        signature: "c2lnbmF0dXJl",
      },
      { type: "agent.message", id: "id2", message_id: "msg_1", content: [{ type: "text", text: "Let me look." }] },
      {
        type: "agent.tool_use",
        message_id: "msg_1",
        call_id: "toolu_bash",
        name: "Bash",
        engine_name: "Bash",
        input: { command: "echo hello" },
      },
      {
        type: "agent.tool_use",
        message_id: "msg_2",
        call_id: "toolu_fail",
        name: "Bash",
        engine_name: "Bash",
        input: { command: "echo oops; exit 3" },
      },
      {
        type: "agent.tool_use",
        message_id: "msg_2",
        call_id: "toolu_image",
        name: "Read",
        engine_name: "Read",
        input: { file_path: "/workspace/dot.png" },
      },
    ]);
  });

  test.each([
    ["toolu_nope", { type: "agent.tool_use", name: "Nope", engine_name: "Nope", input: { a: 1 } }],
    ["toolu_host", { type: "agent.tool_use", name: "note", engine_name: "mcp__capstan__note" }],
    [
      "toolu_mcp",
      { type: "agent.mcp_tool_use", name: "note", engine_name: "mcp__files__note", mcp_server_name: "files" },
    ],
  ])("names the tool of %s as users do, and keeps the engine's name", (callId, expected) => {
    const { facts } = translate(translator(), holding(tools, "assistant", callId));
    expect(draftsOf(facts)).toEqual([expect.objectContaining({ call_id: callId, ...expected })]);
  });

  test("tells a call of a client's tool apart from one of the host's, and of a server's of the same name", () => {
    const named = { ...translator(), customTools: ["note"] };
    const types = ["toolu_host", "toolu_mcp", "toolu_nope"].map((callId) => {
      const [draft] = draftsOf(translate(named, holding(tools, "assistant", callId)).facts);
      return draft?.type;
    });
    expect(types).toEqual(["agent.custom_tool_use", "agent.mcp_tool_use", "agent.tool_use"]);
  });

  test("leaves out the words the CLI puts into the model's mouth", () => {
    const failed = recording("streams", "cut off again and again");
    expect(JSON.stringify(failed.filter((message) => message.type === "assistant"))).toContain("<synthetic>");
    expect(draftsOfType(factsOf(failed), "agent.message")).toEqual([]);
  });

  test("leaves out the notes the CLI writes in the user's name", () => {
    const messages = RECORDINGS.flatMap((recorded) => recorded.messages).filter((message) => message.type === "user");
    const notes = ["[Request interrupted by user", "cut off mid-stream", "<local-command-stdout>", "safety classifier"];
    for (const note of notes) {
      const saying = messages.filter((message) => JSON.stringify(message).includes(note));
      for (const message of saying) expect(translate(translator(), message).facts).toEqual([]);
    }
    expect(messages.some((message) => JSON.stringify(message).includes("cut off mid-stream"))).toBe(true);
  });
});

const DOT = expect.stringMatching(/^iVBORw0KGgo/) as string;

describe("the result of a call", () => {
  test.each([
    ["toolu_bash", false, [{ type: "text", text: "hello" }]],
    ["toolu_fail", true, [{ type: "text", text: "Exit code 3\noops" }]],
    ["toolu_image", false, [{ type: "image", source: { type: "base64", media_type: "image/png", data: DOT } }]],
    [
      "toolu_nope",
      true,
      [{ type: "text", text: "<tool_use_error>Error: No such tool available: Nope</tool_use_error>" }],
    ],
    ["toolu_host", false, [{ type: "text", text: "noted x" }]],
    ["toolu_mcp", false, [{ type: "text", text: "noted y" }]],
    [
      "toolu_picture",
      false,
      [
        { type: "text", text: "a pixel" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: DOT } },
        { type: "text", text: expect.stringContaining("[Image: source:") as string },
      ],
    ],
  ])("of %s is what the model is told", (callId, isError, content) => {
    expect(translate(translator(), holding(tools, "user", callId)).facts).toEqual([
      { kind: "tool_result", callId, isError, content },
    ]);
  });

  test.each([
    ["nothing", undefined, []],
    ["null", null, []],
    ["a string", "text", [{ type: "text", text: "text" }]],
    [
      "a block of a kind the log has no place for",
      [{ type: "tool_reference", tool_name: "Read" }],
      [{ type: "text", text: '{"type":"tool_reference","tool_name":"Read"}' }],
    ],
  ])("that is %s is told all the same", (_what, content, expected) => {
    const block = { type: "tool_result", tool_use_id: "toolu_1", content };
    const message = { type: "user", message: { role: "user", content: [block] }, parent_tool_use_id: null } as Message;
    expect(translate(translator(), message).facts).toEqual([
      { kind: "tool_result", callId: "toolu_1", isError: false, content: expected },
    ]);
  });

  // The CLI sends one every 30 seconds, for as long as the call runs or waits for a person.
  test("that is long in coming is no event: a heartbeat says only that time passes", () => {
    const messages = recording("turns", "a slow tool");
    expect(messages).toContainEqual(expect.objectContaining({ type: "tool_progress", heartbeat: true }));
    expect(draftsOfType(factsOf(messages), "capstan.tool_progress")).toEqual([]);
  });

  test("that reports progress of its own is told under its call", () => {
    const progress = { type: "tool_progress", tool_use_id: "toolu_1", tool_name: "Bash", parent_tool_use_id: null };
    const message = { ...progress, elapsed_time_seconds: 4 } as unknown as Message;
    expect(draftsOfType(factsOf([message]), "capstan.tool_progress")).toEqual([
      { type: "capstan.tool_progress", call_id: "toolu_1", elapsed_seconds: 4 },
    ]);
  });
});

describe("a failing model API", () => {
  test("is told at each attempt, with what is known of the reason", () => {
    const errors = [recording("turns", "retries"), recording("turns", "a lost connection")].flatMap((messages) =>
      draftsOfType(factsOf(messages), "session.error").map(({ error }) => error),
    );
    expect(errors).toMatchObject(
      [
        { type: "model_overloaded_error", http_status: 529, retry_after_ms: 546, message: /529.*attempt 1 of 3/ },
        { type: "model_rate_limited_error", http_status: 429, retry_after_ms: 1090, message: /429.*attempt 2 of 3/ },
        { type: "model_request_failed_error", http_status: null, retry_after_ms: 596, message: /unknown.*1 of 3/ },
      ].map(({ message, ...rest }) => ({ ...rest, message: expect.stringMatching(message) as string })),
    );
    for (const error of errors) expect(error.retry_status).toEqual({ type: "retrying" });
  });
});

const UNKNOWN = [
  "background_tasks_changed",
  "informational",
  "status",
  "task_progress",
  "task_updated",
  "thinking_tokens",
];

describe("every recorded message", () => {
  test.each(RECORDINGS)("of $name gives events that fit the log's schema", ({ messages }) => {
    const stored = { id: "sevt_1", processed_at: "2026-01-02T03:04:05.000Z" };
    for (const draft of draftsOf(factsOf(messages)))
      expect(sessionEvent.safeParse({ ...stored, ...draft }).error?.issues ?? []).toEqual([]);
  });

  test("of a kind the translator does not know is no fact and changes nothing", () => {
    const met = new Set<string>();
    for (const { messages } of RECORDINGS)
      for (const { message, facts, before, after } of steps(messages)) {
        if (message.type !== "system" || !UNKNOWN.includes(message.subtype)) continue;
        met.add(message.subtype);
        expect(facts).toEqual([]);
        expect(after).toBe(before);
      }
    expect([...met].toSorted()).toEqual(UNKNOWN);
    const start = translator();
    const newer = { type: "telepathy", thought: "blue" } as unknown as Message;
    expect(translate(start, newer)).toEqual({ state: start, facts: [] });
  });
});
