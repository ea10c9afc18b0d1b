import { PLAN_TOOL } from "../../core/rules/tool-names.ts";
import { traitsOf } from "../builtin-tools.ts";
import type { LineOutput } from "./line/line.ts";
import { type BuiltinTool, textOutcome } from "./tools/builtin-tool.ts";

/** Tools of the primary thread. */

/** Leaves plan mode once a person has approved the plan. */
export function planTool(onApproval: () => void): BuiltinTool {
  return {
    name: PLAN_TOOL,
    description:
      "In plan mode: show the user your plan and ask to carry it out. Use it once the plan is complete, and not for questions.",
    inputSchema: PLAN_SCHEMA,
    traits: traitsOf(PLAN_TOOL),
    run: async () => {
      onApproval();
      return textOutcome("The user has approved your plan. Plan mode is off: carry it out.");
    },
  };
}

const PLAN_SCHEMA = {
  type: "object",
  properties: { plan: { type: "string", description: "The whole plan, in Markdown." } },
  required: ["plan"],
};

const OUTPUT_TOOL = "StructuredOutput";

/** An agent with an output schema gives its final answer as the input of this call. */
export function outputTool(schema: Readonly<Record<string, unknown>>): {
  readonly tool: BuiltinTool;
  readonly output: LineOutput & { readonly forget: () => void };
} {
  let given: { readonly value: unknown } | undefined;
  const tool: BuiltinTool = {
    name: OUTPUT_TOOL,
    description:
      "Give your final answer in the form that was asked for. Call it exactly once, at the end, with the whole answer.",
    inputSchema: schema,
    traits: traitsOf(OUTPUT_TOOL),
    run: async (input) => {
      given = { value: input };
      return textOutcome("The answer was taken.");
    },
  };
  return {
    tool,
    output: {
      tool: OUTPUT_TOOL,
      givenValue: () => given,
      forget: () => {
        given = undefined;
      },
    },
  };
}
