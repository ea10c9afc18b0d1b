import type { AgentDefinition } from "../../../core/agent/agent-definition.ts";
import type { BuiltinTool } from "../tools/builtin-tool.ts";
import type { ModelToAsk } from "./model-to-ask.ts";
import type { ApiBlock, ApiMessage, ApiRequest, ApiText, ApiTool } from "./wire.ts";

/** The system prompt. Its first block is the same for all sessions of an agent. */
export type SystemPrompt = readonly string[];

const CACHED = { type: "ephemeral" } as const;
/** Tokens for the answer, in addition to those for thinking. */
const SPOKEN_TOKENS = 8_000;

/**
 * One request of the Messages API. Parts that seldom change come first: tools, instructions, then the conversation. The
 * API allows four cache marks: one after the tools, one after the instructions, and one after each of the last two user
 * messages; the earlier of these ended the previous request.
 */
export function requestOf(
  {
    system,
    tools,
    messages,
    settings,
  }: {
    readonly system: SystemPrompt;
    readonly tools: readonly BuiltinTool[];
    readonly messages: readonly ApiMessage[];
    readonly settings: Pick<AgentDefinition, "effort" | "thinking">;
  },
  model: ModelToAsk,
): ApiRequest {
  const { effort, thinking } = settings;
  const budget = typeof thinking === "object" ? thinking.budget_tokens : 0;
  return {
    model: model.name,
    max_tokens: Math.max(model.maxTokens, budget + SPOKEN_TOKENS),
    stream: true,
    ...(thinking !== undefined && {
      thinking: typeof thinking === "object" ? { type: "enabled", budget_tokens: budget } : { type: thinking },
    }),
    ...(effort !== undefined && { output_config: { effort } }),
    ...(tools.length > 0 && { tools: tools.map((tool, index) => toolOf(tool, index === tools.length - 1)) }),
    ...(system.length > 0 && { system: system.map((text, index) => systemBlock(text, index === 0)) }),
    messages: markForCache(messages).map(({ role, content }) => ({ role, content: [...content] })),
  };
}

function toolOf({ name, description, inputSchema }: BuiltinTool, isLast: boolean): ApiTool {
  const { $schema: _dialect, ...schema } = inputSchema;
  return {
    name,
    description,
    input_schema: { ...schema, type: "object" },
    ...(isLast && { cache_control: CACHED }),
  };
}

function systemBlock(text: string, isMarked: boolean): ApiText {
  return { type: "text", text, ...(isMarked && { cache_control: CACHED }) };
}

function markForCache(messages: readonly ApiMessage[]): ApiMessage[] {
  const ofUser = messages.flatMap(({ role }, index) => (role === "user" ? [index] : [])).slice(-2);
  return messages.map((message, index) => (ofUser.includes(index) ? withMark(message) : message));
}

function withMark({ role, content }: ApiMessage): ApiMessage {
  return { role, content: [...content.slice(0, -1), { ...content.at(-1), cache_control: CACHED } as ApiBlock] };
}
