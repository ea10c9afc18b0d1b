/** Model names, and how many tokens each model accepts. */

/** Aliases for a model of a family, as in the Claude CLI. */
const ALIASES: Readonly<Record<string, string>> = {
  default: "claude-opus-5-5",
  best: "claude-opus-5-5",
  opus: "claude-opus-5-5",
  opusplan: "claude-opus-5-5",
  sonnet: "claude-sonnet-5-5",
  haiku: "claude-haiku-5-5",
};

const LONG_CONTEXT = /\[1m\]$/i;

export interface ModelToAsk {
  /** The API's name for it. */
  readonly name: string;
  /** Tokens of a whole conversation, including the answer. */
  readonly window: number;
  /** The maximum number of tokens in one answer. */
  readonly maxTokens: number;
  /** Its long context must be requested. */
  readonly isLong: boolean;
}

export function modelToAsk(written: string): ModelToAsk {
  const isLong = LONG_CONTEXT.test(written);
  const plain = written.replace(LONG_CONTEXT, "");
  const name = ALIASES[plain.toLowerCase()] ?? plain;
  return { name, isLong, window: isLong ? 1_000_000 : 200_000, maxTokens: maxTokensOf(name) };
}

function maxTokensOf(name: string): number {
  if (/claude-3-5/.test(name)) return 8_192;
  return /claude-3-(opus|sonnet|haiku)/.test(name) ? 4_096 : 32_000;
}
