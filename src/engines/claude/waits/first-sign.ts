import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { CapstanError } from "../../../core/errors.ts";

/** In milliseconds. A process that has work from before begins with it in less than a second. */
const BEGINS_WITHIN_MS = 120_000;

/**
 * Waits for the first sign of a process that is to work without being told anything: one that does not recognise its work
 * does nothing at all, and would be waited for without end.
 */
export class FirstSign {
  readonly #timer: NodeJS.Timeout;

  /** `isAsking`: whether the process has asked about a call, which is a sign as well. */
  constructor(
    { isAsking, onSilence }: { readonly isAsking: () => boolean; readonly onSilence: (error: CapstanError) => void },
    { withinMs = BEGINS_WITHIN_MS }: { readonly withinMs?: number } = {},
  ) {
    this.#timer = setTimeout(() => {
      if (!isAsking()) onSilence(silent(withinMs));
    }, withinMs).unref();
  }

  hear(message: SDKMessage): void {
    // Of system messages only the one at the beginning of the work tells of it.
    if (message.type !== "system" || message.subtype === "init") this.stop();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function silent(withinMs: number): CapstanError {
  return new CapstanError(
    "engine_failed",
    `The agent process was started to continue a turn and did nothing for ${withinMs / 1_000} seconds. The log is intact; send a message to continue.`,
    { retryable: true },
  );
}
