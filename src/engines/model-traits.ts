import { type AgentDefinition, EFFORTS } from "../core/agent/agent-definition.ts";
import { CapstanError } from "../core/errors.ts";

/**
 * How the pinned SDK's CLI treats a model, as measured (docs/decisions/2026-11-15-agent-fields.md). It silently drops
 * settings that a model does not support, so Capstan checks them first. Models not listed here are not checked.
 */
interface ModelTraits {
  readonly efforts: readonly (typeof EFFORTS)[number][];
  readonly thinking: readonly Thinking[];
  /** Length of Claude Code's prompt for it, in characters. */
  readonly promptChars: number;
}

type Thinking = "adaptive" | "disabled" | "budget_tokens";

const ALWAYS_THINKS = { efforts: EFFORTS, thinking: ["adaptive"] } as const;
const MAY_THINK = { efforts: EFFORTS, thinking: ["adaptive", "disabled"] } as const;
const LONG_PROMPT = 13_466;

/** The first match for a model's name applies; the name may have a provider's prefix and a date suffix. */
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

/** The length of Claude Code's own prompt for a model; undefined if not measured. */
export function claudeCodePromptChars(model: string): number | undefined {
  return traitsOf(model)?.promptChars;
}

type ModelSettings = Pick<AgentDefinition, "model" | "fallback_model" | "effort" | "thinking">;

/** The settings that this model does not support, each as `field: problem`. */
export function problemsWithModel(settings: ModelSettings): string[] {
  const { model, fallback_model: fallback, effort, thinking } = settings;
  const problems: string[] = [];
  if (fallback === model)
    problems.push(`fallback_model: ${fallback} is the model itself. Choose another one, or remove it.`);
  const traits = traitsOf(model);
  if (traits === undefined) return problems;
  if (effort !== undefined && !traits.efforts.includes(effort))
    problems.push(`effort: ${model} does not support ${effort}. ${knownNames(traits.efforts, "effort levels")}`);
  const wanted = typeof thinking === "object" ? "budget_tokens" : thinking;
  if (wanted !== undefined && !traits.thinking.includes(wanted))
    problems.push(`thinking: ${model} does not support ${wanted}. ${knownNames(traits.thinking, "thinking settings")}`);
  return problems;
}

/** Throws for unsupported settings. */
export function requireModelSettings(settings: ModelSettings): void {
  const problems = problemsWithModel(settings);
  if (problems.length > 0) throw new CapstanError("invalid_agent", problems.join("\n"), { data: { problems } });
}

function knownNames(names: readonly string[], what: string): string {
  return names.length === 0
    ? `It has no ${what}; remove this setting.`
    : `It supports ${names.join(", ")}. You can also remove this setting.`;
}
