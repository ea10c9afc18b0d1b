/** The agent's questions in the Managed Agents API: a custom tool that the client answers. */

export const QUESTION_NAME = "ask_user_question";

const text = (description: string) => ({ type: "string", description });

/**
 * How the tool appears in an agent's list of tools. A client that lists a custom tool of this name lets the agent ask
 * questions; its own description and schema are ignored.
 */
export const questionTool = {
  type: "custom" as const,
  name: QUESTION_NAME,
  description:
    "Asks the user questions. Answer with the text of a JSON object that maps questions to answers. For a single question, the answer alone is enough.",
  input_schema: {
    type: "object" as const,
    properties: {
      questions: {
        type: "array",
        items: {
          type: "object",
          properties: {
            question: text("The question, in full."),
            header: text("A short title."),
            multiSelect: { type: "boolean", description: "Whether several options can be selected." },
            options: {
              type: "array",
              items: {
                type: "object",
                properties: { label: text("The option's label."), description: text("What the option means.") },
              },
            },
          },
        },
      },
    },
    required: ["questions"],
  },
};
