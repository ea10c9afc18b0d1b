import { emitKeypressEvents, type Interface } from "node:readline";

/** One key, as the terminal sent it. */
export interface Key {
  /** Such as `up`, `return`, `a`; absent for most of what is only text. */
  readonly name?: string | undefined;
  readonly ctrl: boolean;
  readonly meta: boolean;
  /** What it writes; empty for keys that write nothing. */
  readonly text: string;
}

interface RawKey {
  readonly name?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly sequence?: string;
}

/** How long an Escape may be the beginning of another key. */
const ESCAPE_MS = 40;

/** Calls `onKey` for every key until it is disposed of. */
export function listenForKeys(input: NodeJS.ReadStream, onKey: (key: Key) => void): Disposable {
  // Of the interface only this setting is read.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  const listener = (text: string | undefined, raw: RawKey = {}): void => {
    const { name, ctrl = false, meta = false } = raw;
    onKey({ name, ctrl, meta, text: text ?? "" });
  };
  input.on("keypress", listener);
  return { [Symbol.dispose]: () => void input.off("keypress", listener) };
}
