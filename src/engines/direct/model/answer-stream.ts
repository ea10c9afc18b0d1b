import { createParser } from "eventsource-parser";
import { messageOf } from "../../../core/errors.ts";
import type { GatewayAnswer } from "../../../core/ports/gateway.ts";
import type { AnswerDraft, StreamEvent } from "./answer-draft.ts";
import { unreadableAnswer, failedInStream } from "./failure.ts";
import { textsOf } from "./post.ts";

/** Reads a streamed answer into `draft`, event by event. Rejects if the stream breaks or is not an answer. */
export async function readAnswer(
  { body }: Pick<GatewayAnswer, "body">,
  draft: AnswerDraft,
  { signal, onEvent }: { readonly signal: AbortSignal; readonly onEvent: (event: StreamEvent) => Promise<void> },
): Promise<void> {
  const events: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const event = parse(data);
      if (event !== undefined) events.push(event);
    },
  });
  try {
    for await (const chunk of textsOf(body)) {
      parser.feed(chunk);
      for (const event of events.splice(0)) {
        if (event.type === "error") throw failedInStream(event["error"]);
        draft.take(event);
        await onEvent(event);
        if (signal.aborted) return;
      }
    }
  } catch (thrown) {
    if (signal.aborted) return;
    if (thrown instanceof Error && "code" in thrown)
      throw unreadableAnswer(`The answer broke off: ${messageOf(thrown)}.`);
    throw thrown;
  }
  if (!draft.isComplete)
    throw unreadableAnswer(draft.isBegun ? "The answer broke off." : "The response is not a model answer.");
}

function parse(data: string): StreamEvent | undefined {
  try {
    const event: unknown = JSON.parse(data);
    return typeof event === "object" && event !== null && "type" in event ? (event as StreamEvent) : undefined;
  } catch {
    throw unreadableAnswer("Part of the answer is not JSON.");
  }
}
