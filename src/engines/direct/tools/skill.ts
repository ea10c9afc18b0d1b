import { join } from "node:path";
import type { AgentDefinition } from "../../../core/agent/agent-definition.ts";
import type { EngineRequest } from "../../../core/ports/engine.ts";
import { traitsOf } from "../../builtin-tools.ts";
import { bodyOf, descriptionOf, SKILL_TOOL, skillsDirectory, writeSkills } from "../../skills.ts";
import { textOutcome } from "./builtin-tool.ts";
import type { ToolSource } from "./session-tools.ts";

/** For the prompt; empty if the agent has no skills. */
export function skillList({ skills = {} }: Pick<AgentDefinition, "skills">): string {
  const list = Object.entries(skills).map(
    ([name, { files }]) => `- ${name}: ${descriptionOf(files["SKILL.md"]?.content ?? "")}`,
  );
  return list.length === 0
    ? ""
    : ["Skills that you can read with the tool Skill when you need them:", ...list].join("\n");
}

/** The agent's skills: the prompt lists them, and a call returns the instructions. */
export function skillTools(request: Pick<EngineRequest, "agent" | "stateDir">): ToolSource {
  const directory = skillsDirectory(request);
  const skills = Object.entries(request.agent.skills ?? {});
  if (directory === undefined) return { tools: [] };
  writeSkills(request);
  return {
    readable: [directory],
    tools: [
      {
        name: SKILL_TOOL,
        description: "Read the instructions of a skill before you do what it is for.",
        inputSchema: SCHEMA,
        traits: traitsOf(SKILL_TOOL),
        run: async ({ skill, args }) => {
          const name = String(skill).replace(/^agent:/, "");
          const found = skills.find(([known]) => known === name);
          if (found === undefined)
            return textOutcome(
              `Unknown skill ${name}. Use one of: ${skills.map(([known]) => known).join(", ")}.`,
              true,
            );
          const [, { files }] = found;
          const place = `Base directory of this skill: ${join(directory, "skills", name)}`;
          const given = typeof args === "string" && args !== "" ? `\n\nARGUMENTS: ${args}` : "";
          return textOutcome(`${place}\n\n${bodyOf(files["SKILL.md"]?.content ?? "")}${given}`);
        },
      },
    ],
  };
}

const SCHEMA = {
  type: "object",
  properties: {
    skill: { type: "string", description: "The name of the skill." },
    args: { type: "string", description: "Optional arguments for it." },
  },
  required: ["skill"],
};
