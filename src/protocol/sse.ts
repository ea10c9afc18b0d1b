import { createParser } from "eventsource-parser";
import { onAbort } from "../core/text/on-abort.ts";

export interface SseFrame {
  /** Default: `message`. */
  readonly event: string;
  /** The log position; absent for previews and heartbeats. */
  readonly id: number | undefined;
  readonly data: string;
}

interface Reading {
  /** Called whenever data arrives, even if it is not a frame. */
  readonly onBytes?: () => void;
  /** Stops reading. */
  readonly signal?: AbortSignal;
}

/** Yields the frames of an event stream as they are consumed. */
export async function* framesOf(
  body: ReadableStream<Uint8Array>,
  { onBytes, signal }: Reading = {},
): AsyncGenerator<SseFrame> {
  const reader = body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => {});
  const takeBack = signal && onAbort(signal, cancel);
  const decoder = new TextDecoder();
  const arrived: SseFrame[] = [];
  const parser = createParser({
    onEvent: ({ event = "message", id, data }) =>
      arrived.push({ event, id: id === undefined ? undefined : Number(id), data }),
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // A frame without its end was cut off.
      if (done) return;
      onBytes?.();
      parser.feed(decoder.decode(value, { stream: true }));
      yield* arrived.splice(0);
    }
  } finally {
    takeBack?.();
    cancel();
  }
}
