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
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      // The rest has no end, so the stream was cut off.
      if (done) return;
      onBytes?.();
      rest += decoder.decode(value, { stream: true });
      // The last piece may be incomplete and end within a line break.
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame !== undefined) yield frame;
      }
    }
  } finally {
    takeBack?.();
    cancel();
  }
}

/** Undefined for comments and retry fields. */
function frameOf(block: string): SseFrame | undefined {
  const fields = block.split(/\r?\n/).map((line) => /^([^:]+): ?(.*)$/s.exec(line));
  const valuesOf = (name: string): string[] => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ""] : []));
  const data = valuesOf("data");
  if (data.length === 0) return undefined;
  const id = valuesOf("id").at(-1);
  return {
    event: valuesOf("event").at(-1) ?? "message",
    id: id === undefined ? undefined : Number(id),
    data: data.join("\n"),
  };
}
