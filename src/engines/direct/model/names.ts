/** What a model is asked for by, and how much it takes. */

/** Words that stand for a model of a family, as the Claude CLI reads them. */
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
  /** As the API knows it. */
  readonly name: string;
  /** Tokens of a whole conversation, with the answer. */
  readonly window: number;
  /** The most tokens of one answer. */
  readonly maxTokens: number;
  /** It has to be asked for its long context. */
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
