import { type AgentDefinition, EFFORTS } from "../core/agent/agent-definition.ts";
import { CapstanError } from "../core/errors.ts";

/**
 * What the CLI of the pinned SDK does with a model, as measured (docs/decisions/2026-11-15-agent-fields.md). It drops
 * what a model cannot do without a word, so that somebody has to say so before. A model that is not here is not judged.
 */
interface ModelTraits {
  readonly efforts: readonly (typeof EFFORTS)[number][];
  readonly thinking: readonly Thinking[];
  /** Characters of the prompt that Claude Code has for it. */
  readonly promptChars: number;
}

type Thinking = "adaptive" | "disabled" | "budget_tokens";

const ALWAYS_THINKS = { efforts: EFFORTS, thinking: ["adaptive"] } as const;
const MAY_THINK = { efforts: EFFORTS, thinking: ["adaptive", "disabled"] } as const;
const LONG_PROMPT = 13_466;

/** The first that fits a model's name, which may have the prefix of a provider and a date behind it. */
const MODELS: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  [/^(opus|default)(\[1m\])?$|claude-opus-5-5/, { ...ALWAYS_THINKS, promptChars: 3_474 }],
  [/^sonnet(\[1m\])?$|claude-sonnet-5-5/, { ...ALWAYS_THINKS, promptChars: 3_207 }],
  [/^haiku$|claude-haiku-5-5/, { ...ALWAYS_THINKS, promptChars: 6_050 }],
  [/claude-fable-5-2/, { ...ALWAYS_THINKS, promptChars: 7_998 }],
  [/claude-fable-5-1/, { ...ALWAYS_THINKS, promptChars: 9_297 }],
  [/claude-fable-5/, { ...ALWAYS_THINKS, promptChars: 7_552 }],
  [/claude-opus-5/, { ...MAY_THINK, promptChars: 6_638 }],
  [/claude-sonnet-5/, { ...MAY_THINK, promptChars: LONG_PROMPT }],
  [/claude-opus-4-8/, { ...MAY_THINK, promptChars: 3_200 }],
  [/claude-opus-4-7/, { ...MAY_THINK, promptChars: LONG_PROMPT }],
  [
    /claude-(opus|sonnet)-4-6/,
    { efforts: ["low", "medium", "high", "max"], thinking: MAY_THINK.thinking, promptChars: LONG_PROMPT },
  ],
  [
    /claude-opus-4-5/,
    { efforts: ["low", "medium", "high"], thinking: ["budget_tokens", "disabled"], promptChars: LONG_PROMPT },
  ],
  [
    /claude-(sonnet|haiku)-4-5|claude-sonnet-4(-\d{8}|@|$)/,
    { efforts: [], thinking: ["budget_tokens", "disabled"], promptChars: LONG_PROMPT },
  ],
  [/claude-3/, { efforts: [], thinking: [], promptChars: LONG_PROMPT }],
];

function traitsOf(model: string): ModelTraits | undefined {
  return MODELS.find(([name]) => name.test(model))?.[1];
}

/** The size of the prompt that Claude Code itself has for a model; undefined when it was not measured. */
export function claudeCodePromptChars(model: string): number | undefined {
  return traitsOf(model)?.promptChars;
}

type ModelSettings = Pick<AgentDefinition, "model" | "fallback_model" | "effort" | "thinking">;

/** The settings that no request can have for this model, each as `field: problem`. */
export function problemsWithModel(settings: ModelSettings): string[] {
  const { model, fallback_model: fallback, effort, thinking } = settings;
  const problems: string[] = [];
  if (fallback === model)
    problems.push(`fallback_model: ${fallback} is the model itself. Name another one, or leave it out.`);
  const traits = traitsOf(model);
  if (traits === undefined) return problems;
  if (effort !== undefined && !traits.efforts.includes(effort))
    problems.push(`effort: ${model} cannot be told ${effort}. ${known(traits.efforts, "levels of effort")}`);
  const wanted = typeof thinking === "object" ? "budget_tokens" : thinking;
  if (wanted !== undefined && !traits.thinking.includes(wanted))
    problems.push(`thinking: ${model} does not know ${wanted}. ${known(traits.thinking, "settings for thinking")}`);
  return problems;
}

/** Throws for them. */
export function requireModelSettings(settings: ModelSettings): void {
  const problems = problemsWithModel(settings);
  if (problems.length > 0) throw new CapstanError("invalid_agent", problems.join("\n"), { data: { problems } });
}

function known(names: readonly string[], what: string): string {
  return names.length === 0 ? `It has no ${what}; leave it out.` : `It knows ${names.join(", ")}; or leave it out.`;
}
