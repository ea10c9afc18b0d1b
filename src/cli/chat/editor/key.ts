import { emitKeypressEvents, type Interface } from "node:readline";

/** One key press. */
export interface Key {
  /** Such as `up`, `return`, `a`; absent for most text. */
  readonly name?: string | undefined;
  readonly ctrl: boolean;
  readonly meta: boolean;
  /** The text it inserts; empty for other keys. */
  readonly text: string;
}

interface RawKey {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

/** How long to wait for the rest of an escape sequence. */
const ESCAPE_MS = 40;

/** Calls `onKey` for every key until disposed of. */
export function listenForKeys(input: NodeJS.ReadStream, onKey: (key: Key) => void): Disposable {
  // Only this field of the interface is read.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  const listener = (text: string | undefined, raw: RawKey = {}): void => {
    const { name, ctrl = false, meta = false } = raw;
    onKey({ name, ctrl, meta, text: text ?? "" });
  };
  input.on("keypress", listener);
  return { [Symbol.dispose]: () => void input.off("keypress", listener) };
}
