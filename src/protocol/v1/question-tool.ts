/** The agent's own questions, as clients of the Managed Agents API see them: a custom tool that the client answers. */

export const QUESTION_NAME = "ask_user_question";

const text = (description: string) => ({ type: "string", description });

/**
 * How the tool is shown in an agent's list of tools. A client that lists a custom tool of this name lets the agent ask;
 * whatever description and schema it gives, these are the ones that hold.
 */
export const questionTool = {
  type: "custom" as const,
  name: QUESTION_NAME,
  description:
    "Asks the user questions. Answer with the text of a JSON object, question to answer; a single question takes the answer alone.",
  input_schema: {
    type: "object" as const,
    properties: {
      questions: {
        type: "array",
        items: {
          type: "object",
          properties: {
            question: text("The question, in full."),
            header: text("A few words for a title."),
            multiSelect: { type: "boolean", description: "Whether several options may be chosen." },
            options: {
              type: "array",
              items: {
                type: "object",
                properties: { label: text("What is chosen."), description: text("What that means.") },
              },
            },
          },
        },
      },
    },
    required: ["questions"],
  },
};
