import type { HookCallbackMatcher, Options } from "@anthropic-ai/claude-agent-sdk";
import type { ToolContent } from "../../core/events/content.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { hostToolName } from "../tool-names.ts";
import { apiContent } from "../api-content.ts";

/**
 * Results of custom tools on their way to the model. MCP, which carries them into the CLI, has no word for documents,
 * search results and addresses of images: the model is given the blocks as the client wrote them instead.
 */
export class CustomResults {
  readonly #names: readonly string[];
  readonly #contents = new Map<string, ToolContent>();

  constructor(tools: readonly Tool[]) {
    this.#names = tools.flatMap(({ name, custom }) => (custom === true ? [name] : []));
  }

  /** Names of the tools. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** To be called with what a tool of the host returned. */
  note(callId: string, { name }: Tool, content: ToolContent): void {
    if (this.#names.includes(name)) this.#contents.set(callId, content);
  }

  /** Not called for a result that is an error: of that the CLI tells the text. */
  hooks(): NonNullable<Options["hooks"]> {
    if (this.#names.length === 0) return {};
    const matcher: HookCallbackMatcher = {
      matcher: this.#names.map(hostToolName).join("|"),
      hooks: [
        async (input) => {
          if (input.hook_event_name !== "PostToolUse") return {};
          const content = this.#contents.get(input.tool_use_id);
          this.#contents.delete(input.tool_use_id);
          if (content === undefined) return {};
          return { hookSpecificOutput: { hookEventName: "PostToolUse", updatedToolOutput: apiContent(content) } };
        },
      ],
    };
    return { PostToolUse: [matcher] };
  }
}
