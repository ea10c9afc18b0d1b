import {
  CASSETTE_FORMAT,
  type Cassette,
  type CassetteExchange,
  type CassetteThread,
  type RecordedNews,
} from "../../src/core/suite/cassette.ts";

interface Spoken {
  readonly told?: readonly RecordedNews[];
  readonly says: readonly { readonly type: string; readonly [field: string]: unknown }[];
  readonly instructions?: string;
  readonly tools?: string;
}

export function exchange({ told = [], says, instructions = "i", tools = "t" }: Spoken): CassetteExchange {
  return {
    model: "claude-opus-4-8",
    instructions,
    tools,
    settings: { max_tokens: 100 },
    news: [...told],
    answer: {
      kind: "message",
      message: {
        id: "msg_1",
        role: "assistant",
        model: "claude-opus-4-8",
        content: [...says],
        stop_reason: says.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
        usage: { input_tokens: 1200, output_tokens: 7 },
      },
    },
  };
}

export function thread(name: string, exchanges: readonly CassetteExchange[]): CassetteThread {
  return { session: "case", thread: name, class: name === "main" ? "main" : "subagent", exchanges: [...exchanges] };
}

export function cassetteOf(threads: readonly CassetteThread[], more: Partial<Cassette> = {}): Cassette {
  return {
    format: CASSETTE_FORMAT,
    suite: "review",
    case: "one file",
    trial: 1,
    recorded: { at: "2026-01-02T03:04:05.000Z", capstan: "0.1.0", sdk: "0.3.0", agent: "a1" },
    texts: {
      i: [{ type: "text", text: "You review files.\nBe short." }],
      t: [{ name: "Read", description: "Reads a file." }],
    },
    threads: [...threads],
    ...more,
  };
}

export function textNews(role: "user" | "system", text: string): RecordedNews {
  return { role, content: [{ type: "text", text }] };
}

export function results(...answers: readonly (readonly [id: string, text: string])[]): RecordedNews {
  return {
    role: "user",
    content: answers.map(([id, text]) => ({ type: "tool_result", tool_use_id: id, content: text })),
  };
}
