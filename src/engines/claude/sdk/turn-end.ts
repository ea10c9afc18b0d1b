import type { SDKAssistantMessageError, SDKResultMessage } from "@anthropic-ai/claude-agent-sdk";
import type { TurnEnd } from "../../../core/ports/engine.ts";
import { CapstanError, type ErrorCode } from "../../../core/errors.ts";
import { modelError } from "../../model-failure.ts";
import type { ModelTotals } from "../transcript.ts";

/** Details about a failure that arrived before the result. */
export interface FailureNotes {
  readonly kind?: SDKAssistantMessageError;
  readonly text?: string;
  readonly refused?: boolean;
  /** Why the compaction failed. */
  readonly compaction?: string;
}

interface Context {
  readonly totals: Readonly<Record<string, ModelTotals>>;
  readonly failure: FailureNotes;
  readonly wantsOutput: boolean;
}

/**
 * How a turn ended. API failures arrive as `success` with `is_error`, and a missing structured output as plain success.
 */
export function turnEnd(result: SDKResultMessage, context: Context): { end: TurnEnd; totals: Context["totals"] } {
  const usage = usageSince(context.totals, result.modelUsage);
  const end = { ...outcome(result, context), usage };
  return { end, totals: { ...context.totals, ...result.modelUsage } };
}

function outcome(result: SDKResultMessage, { failure, wantsOutput }: Context): Omit<TurnEnd, "usage"> {
  if (result.terminal_reason === "aborted_streaming" || result.terminal_reason === "aborted_tools")
    return { outcome: "interrupted" };
  if (failure.refused === true || result.stop_reason === "refusal") return { outcome: "refused" };
  switch (result.subtype) {
    case "error_max_turns":
      return { outcome: "steps" };
    case "error_max_budget_usd":
      return { outcome: "budget" };
    case "error_max_structured_output_retries":
      return failedEnd(
        "output_invalid",
        "The model's answers did not match the output schema. Loosen the schema or add detail to the instructions.",
      );
    case "error_during_execution":
      return failedEnd("engine_failed", `The agent loop failed: ${result.errors.join("; ") || "no reason given"}.`);
    case "success":
      if (result.is_error)
        return {
          outcome: "failed",
          error: modelError(result.api_error_status ?? null, { ...failure, text: failure.text ?? result.result }),
        };
      // A compaction is a turn without model steps. Its failure is reported only next to the result.
      if (failure.compaction !== undefined && result.num_turns === 0)
        return /aborted/i.test(failure.compaction)
          ? { outcome: "interrupted" }
          : failedEnd(
              "model_failed",
              `The conversation could not be compacted: ${failure.compaction} It is unchanged; compact it again, or continue.`,
            );
      if (wantsOutput && result.structured_output === undefined && result.num_turns > 0)
        return failedEnd(
          "output_invalid",
          "The model finished without the required structured output. Send the message again.",
        );
      return { outcome: "completed", output: result.structured_output };
  }
}

function failedEnd(code: ErrorCode, message: string): Omit<TurnEnd, "usage"> {
  return { outcome: "failed", error: new CapstanError(code, message) };
}

/** The CLI's figures are cumulative, even across resume and fork. */
function usageSince(before: Context["totals"], now: SDKResultMessage["modelUsage"]): TurnEnd["usage"] {
  const usage: Record<string, { input_tokens: number; output_tokens: number; usd: number }> = {};
  for (const [model, total] of Object.entries(now)) {
    const past = before[model];
    const input = total.inputTokens + total.cacheReadInputTokens + total.cacheCreationInputTokens;
    const pastInput =
      past === undefined ? 0 : past.inputTokens + past.cacheReadInputTokens + past.cacheCreationInputTokens;
    const output = total.outputTokens - (past?.outputTokens ?? 0);
    if (input === pastInput && output === 0) continue;
    usage[model] = {
      input_tokens: input - pastInput,
      output_tokens: output,
      usd: total.costUSD - (past?.costUSD ?? 0),
    };
  }
  return usage;
}
