import { QUESTION_TOOL } from "../../../core/rules/tool-names.ts";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinTool, textOutcome } from "./builtin-tool.ts";

/** Asks the user. The gate shows the questions: the input it returns contains the answers. */
export function createQuestionTool(): BuiltinTool {
  return {
    name: QUESTION_TOOL,
    description:
      "Ask the user one to four questions, each with two to four options, when you need a decision or a preference before you continue. The user can always answer in their own words.",
    inputSchema: SCHEMA,
    traits: traitsOf(QUESTION_TOOL),
    run: async ({ answers, annotations }) => {
      const given = Object.entries((answers ?? {}) as Readonly<Record<string, unknown>>);
      if (given.length === 0) return textOutcome("The user gave no answer.", true);
      const notes = (annotations ?? {}) as Readonly<Record<string, { readonly notes?: string } | undefined>>;
      const told = given.map(([question, answer]) => {
        const note = notes[question]?.notes;
        return `"${question}"="${String(answer)}"${note === undefined ? "" : ` (note: ${note})`}`;
      });
      return textOutcome(
        `The user has answered your questions: ${told.join(", ")}. Continue with these answers in mind.`,
      );
    },
  };
}

const OPTION = {
  type: "object",
  properties: {
    label: { type: "string", description: "A few words that name the choice." },
    description: { type: "string", description: "What the choice means." },
    preview: { type: "string", description: "Optional text that shows what the choice would look like." },
  },
  required: ["label", "description"],
};

const SCHEMA = {
  type: "object",
  properties: {
    questions: {
      type: "array",
      minItems: 1,
      maxItems: 4,
      items: {
        type: "object",
        properties: {
          question: { type: "string", description: "The whole question, which ends with a question mark." },
          header: { type: "string", description: "One or two words that label the question." },
          options: { type: "array", minItems: 2, maxItems: 4, items: OPTION },
          multiSelect: { type: "boolean", description: "Whether several options may be chosen. Default: false." },
        },
        required: ["question", "header", "options"],
      },
    },
  },
  required: ["questions"],
};
