import { onAbort } from "../core/text/on-abort.ts";

export interface SseFrame {
  /** Default: `message`. */
  readonly event: string;
  /** The place in the log; absent for previews and signs of life. */
  readonly id: number | undefined;
  readonly data: string;
}

interface Reading {
  /** Told whenever something came, also what is no frame. */
  readonly onBytes?: () => void;
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}

/** The frames of a stream of server-sent events, as fast as they are taken. */
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
      // What is left has no end, so it was cut.
      if (done) return;
      onBytes?.();
      rest += decoder.decode(value, { stream: true });
      // The last piece is not whole yet, and may end within a line break.
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

/** Undefined for comments and advice on when to come back. */
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
