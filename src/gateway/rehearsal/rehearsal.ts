import { randomUUID } from "node:crypto";
import type { RecordedMessage } from "../../core/suite/cassette.ts";
import { errorResponse } from "../answer.ts";
import { plainAnswer, streamMessage } from "../cassette/answer-parts.ts";
import type { MessagesRequest } from "./rehearsal-conversation.ts";
import { rehearse, type RehearsalReply } from "./rehearsal-script.ts";
import type { Upstream } from "../upstreams/upstream.ts";

const BYTES_PER_TOKEN = 4;
/** Characters per piece of a streamed answer. */
const PIECE = 20;
const PATH = "/v1/messages";

/** The built-in scripted model. It implements the Messages API, in this process. */
export function openRehearsal(): Upstream {
  return {
    billing: "rehearsal",
    async send({ path, body = new Uint8Array(0), signal }) {
      signal.throwIfAborted();
      if (path.split("?")[0] !== PATH)
        return errorResponse({
          status: 404,
          type: "not_found_error",
          message: `The rehearsal model only serves ${PATH}.`,
        });
      const request = JSON.parse(new TextDecoder().decode(body) || "{}") as Asked;
      const reply = rehearse(request);
      if ("error" in reply) return errorResponse(reply.error);
      const message = messageOf(reply, request, body.byteLength);
      return request.stream === true ? streamMessage(message, PIECE) : plainAnswer(200, message);
    },
  };
}

interface Asked extends MessagesRequest {
  readonly model?: string;
  readonly stream?: boolean;
}

type Answer = Exclude<RehearsalReply, { readonly error: unknown }>;

/** The figures depend on the lengths. */
function messageOf(reply: Answer, { model = "rehearsal" }: Asked, length: number): RecordedMessage {
  const { thinking } = reply;
  return {
    id: idOf("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [
      // Engines send thinking back, and some refuse it without a signature.
      ...(thinking === undefined ? [] : [{ type: "thinking", thinking, signature: "rehearsal" }]),
      ...("text" in reply
        ? [{ type: "text", text: reply.text }]
        : reply.calls.map(({ name, input }) => ({ type: "tool_use", id: idOf("toolu"), name, input }))),
    ],
    stop_reason: "text" in reply ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: {
      input_tokens: Math.ceil(length / BYTES_PER_TOKEN),
      output_tokens: Math.ceil(JSON.stringify(reply).length / BYTES_PER_TOKEN),
    },
  };
}

function idOf(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll("-", "")}`;
}
