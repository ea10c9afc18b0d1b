import type { HookCallbackMatcher, Options } from "@anthropic-ai/claude-agent-sdk";
import type { ToolContent } from "../../core/events/content.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { hostToolName } from "../tool-names.ts";
import { apiContent } from "../api-content.ts";

/**
 * Passes results of custom tools to the model. MCP, which carries them into the CLI, can't represent documents, search
 * results and image URLs, so a hook replaces the MCP result with the client's original blocks.
 */
export class CustomResults {
  readonly #names: readonly string[];
  readonly #contents = new Map<string, ToolContent>();

  constructor(tools: readonly Tool[]) {
    this.#names = tools.flatMap(({ name, custom }) => (custom === true ? [name] : []));
  }

  /** Tool names. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** Call this with the content that a host tool returned. */
  note(callId: string, { name }: Tool, content: ToolContent): void {
    if (this.#names.includes(name)) this.#contents.set(callId, content);
  }

  /** The hook is not called for errors; for those the CLI passes on the text. */
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
