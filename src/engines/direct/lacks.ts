import type { EngineLacks } from "../../core/engine-fit.ts";

/** What the `direct` engine cannot do for an agent. Apart from the engine: an agent file is checked without loading it. */
export const lacks: EngineLacks = {
  fields: {
    instructions_mode: "put the instructions behind Claude Code's own prompt, which only the Claude CLI has",
    skills: "load skills",
  },
  tools: ["NotebookEdit", "WebSearch"],
};
