import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { CapstanError } from "../../../core/errors.ts";

/** Milliseconds. A process that continues a turn normally starts within a second. */
const BEGINS_WITHIN_MS = 120_000;

/**
 * Waits for the first sign of a process that must work without a new message: a process that doesn't recognize its
 * pending work does nothing at all, and the host would wait forever.
 */
export class FirstSign {
  readonly #timer: NodeJS.Timeout;

  /** `isAsking`: whether the process has asked about a call, which also counts as a sign. */
  constructor(
    { isAsking, onSilence }: { readonly isAsking: () => boolean; readonly onSilence: (error: CapstanError) => void },
    { withinMs = BEGINS_WITHIN_MS }: { readonly withinMs?: number } = {},
  ) {
    this.#timer = setTimeout(() => {
      if (!isAsking()) onSilence(silent(withinMs));
    }, withinMs).unref();
  }

  hear(message: SDKMessage): void {
    // Of all system messages, only `init` shows that work has started.
    if (message.type !== "system" || message.subtype === "init") this.stop();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function silent(withinMs: number): CapstanError {
  return new CapstanError(
    "engine_failed",
    `The agent process was started to continue a turn but did nothing for ${withinMs / 1_000} seconds. The log is intact; send a message to continue.`,
    { retryable: true },
  );
}
