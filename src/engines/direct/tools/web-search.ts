import { z } from "zod";
import { messageOf } from "../../../core/errors.ts";
import { traitsOf } from "../../builtin-tools.ts";
import type { Workplace } from "../line/workplace.ts";
import { askModel, type Asker } from "../model/ask-model.ts";
import { RequestFailure } from "../model/failure.ts";
import { modelToAsk } from "../model/model-to-ask.ts";
import type { Answer, AnswerBlock, ApiBlock, ApiMessage, ApiRequest } from "../model/wire.ts";
import { type BuiltinCall, type BuiltinOutcome, type BuiltinTool, textOutcome } from "./builtin-tool.ts";
import { inputRefusal, ToolFailure } from "./files/open-file.ts";
import { boundedResult } from "./search/long-result.ts";

const input = z.strictObject({
  query: z.string().min(2).describe("The search query to use"),
  allowed_domains: z.array(z.string()).optional().describe("Only include search results from these domains"),
  blocked_domains: z.array(z.string()).optional().describe("Never include search results from these domains"),
});

type Input = z.infer<typeof input>;

const DESCRIPTION = `Searches the web and returns the results, with links, and a summary of them.

- Use it for what you cannot know: recent events, current versions, prices.
- \`allowed_domains\` and \`blocked_domains\` cannot be given together.
- Name the pages that your answer is based on, as markdown links.`;

/** Shared by all threads: a schema is compiled once. */
const SCHEMA = z.toJSONSchema(input);
const TASK =
  "You run a web search for another model, which is waiting on the result and can search again. Search once, then reply with a brief summary of the results.";
const REMINDER = "REMINDER: You MUST include the sources above in your response to the user using markdown hyperlinks.";
/** The Claude CLI's limit. The gateway reserves the cost of this many searches. */
const MOST_SEARCHES = 8;
const MOST_TOKENS = 8_000;
/** How often a search that the API paused is continued. */
const MOST_PAUSES = 3;
const MOST_CHARACTERS = 100_000;

/** The thread that searches: its requests count towards its own usage. */
export interface SearchingLine extends Pick<Asker, "threadId" | "agentId" | "parentAgentId"> {
  readonly model: () => string;
}

/** The model API searches, in a separate request: nothing is fetched from here. */
export function webSearchTool(place: Workplace, line: SearchingLine): BuiltinTool {
  return {
    name: "WebSearch",
    description: DESCRIPTION,
    inputSchema: SCHEMA,
    traits: traitsOf("WebSearch"),
    run: async (given, call) => {
      try {
        return await search(input.parse(given), { place, line, call });
      } catch (thrown) {
        return textOutcome(messageOf(thrown), true);
      }
    },
  };
}

async function search(
  given: Input,
  { place, line, call }: { readonly place: Workplace; readonly line: SearchingLine; readonly call: BuiltinCall },
): Promise<BuiltinOutcome> {
  const { query, allowed_domains: allowed = [], blocked_domains: blocked = [] } = given;
  if (allowed.length > 0 && blocked.length > 0)
    throw inputRefusal(
      "Cannot specify both allowed_domains and blocked_domains in the same request. Leave one of them out.",
    );
  const { request, host, retries, tally, betas } = place;
  const { threadId, agentId, parentAgentId } = line;
  const asker: Asker = {
    sessionId: request.sessionId,
    gateway: request.gateway,
    host,
    retries,
    threadId,
    agentId,
    parentAgentId,
  };
  const model = line.model();
  const messages: ApiMessage[] = [
    { role: "user", content: [{ type: "text", text: `Perform a web search for the query: ${query}` }] },
  ];
  const blocks: AnswerBlock[] = [];
  for (let pauses = 0; ; pauses += 1) {
    const answer: Answer = await askModel(
      {
        request: (name) => requestFor(messages, { model: name, allowed, blocked }),
        model,
        requestClass: "auxiliary",
        betas: betas(modelToAsk(model)),
        isShown: false,
      },
      asker,
      call.signal,
    ).catch((thrown: unknown) => {
      throw failure(thrown);
    });
    tally.add(answer);
    if (answer.stopReason === null) return textOutcome("[Interrupted: the search was stopped.]", true);
    blocks.push(...answer.blocks);
    if (answer.stopReason !== "pause_turn" || pauses === MOST_PAUSES) break;
    messages.push({ role: "assistant", content: answer.blocks.flatMap(sentBack) });
  }
  return outcomeOf(query, blocks, { place: request, callId: call.callId });
}

function requestFor(
  messages: readonly ApiMessage[],
  {
    model,
    allowed,
    blocked,
  }: { readonly model: string; readonly allowed: readonly string[]; readonly blocked: readonly string[] },
): ApiRequest {
  const { name, maxTokens } = modelToAsk(model);
  return {
    model: name,
    max_tokens: Math.min(maxTokens, MOST_TOKENS),
    stream: true,
    system: [{ type: "text", text: TASK }],
    tools: [
      {
        type: "web_search_20250305",
        name: "web_search",
        max_uses: MOST_SEARCHES,
        ...(allowed.length > 0 && { allowed_domains: [...allowed] }),
        ...(blocked.length > 0 && { blocked_domains: [...blocked] }),
      },
    ],
    messages: messages.map(({ role, content }) => ({ role, content: [...content] })),
  };
}

/** The API's own blocks, sent back so that it can continue. */
function sentBack(block: AnswerBlock): ApiBlock[] {
  if (block.type === "text") return [{ type: "text", text: block.text }];
  return block.type === "other" ? [block.block] : [];
}

function failure(thrown: unknown): unknown {
  if (!(thrown instanceof RequestFailure)) return thrown;
  const said = thrown.message.replace(/[.\s]*$/, "");
  if (thrown.kind !== "invalid_request") return new ToolFailure(`The search failed: ${said}.`);
  return new ToolFailure(
    `The search failed: ${said}. The model API of this session may have no web search. Work with what you know, or fetch a page whose address you have.`,
  );
}

const result = z.object({ title: z.string().catch(""), url: z.string() });
const found = z.object({ type: z.literal("web_search_tool_result"), content: z.array(z.unknown()) });
const failed = z.object({ type: z.literal("web_search_tool_result"), content: z.object({ error_code: z.string() }) });

function outcomeOf(
  query: string,
  blocks: readonly AnswerBlock[],
  { place, callId }: { readonly place: Workplace["request"]; readonly callId: string },
): BuiltinOutcome {
  const parts = blocks.flatMap(partOf);
  const isError = parts.every(({ isFailure }) => isFailure);
  const said = parts.length === 0 ? "The model API returned nothing." : parts.map(({ text }) => text).join("\n\n");
  const text = `Web search results for query: "${query}"\n\n${said}${isError ? "" : `\n\n${REMINDER}`}`;
  return { ...boundedResult(text, { place, callId, most: MOST_CHARACTERS }), isError };
}

/** The readable part of a block; empty for unknown kinds. */
function partOf(block: AnswerBlock): { readonly text: string; readonly isFailure: boolean }[] {
  if (block.type === "text") return [{ text: block.text.trim(), isFailure: false }];
  if (block.type !== "other") return [];
  const failing = failed.safeParse(block.block).data;
  if (failing !== undefined) return [{ text: `Web search error: ${failing.content.error_code}`, isFailure: true }];
  const links = found.safeParse(block.block).data?.content.flatMap((one) => result.safeParse(one).data ?? []);
  if (links === undefined) return [];
  return [{ text: links.length === 0 ? "No links found." : `Links: ${JSON.stringify(links)}`, isFailure: false }];
}
