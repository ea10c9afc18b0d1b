import { type AgentDefinition, parseAgent } from "../../core/agent/agent-definition.ts";
import { inputValues, renderInputs } from "../../core/agent/agent-inputs.ts";
import type { Engines } from "../../core/ports/engine.ts";
import { withEngine } from "../engine/session-engine.ts";
import type { SessionLog } from "../log/session-log.ts";
import { type AgentInDirectory, withProjectFile } from "./project-file.ts";
import type { StartOptions } from "../session-options.ts";

interface StartedAgent {
  readonly agent: AgentDefinition;
  readonly inPlace: (cwd: string) => AgentInDirectory;
  readonly prepare: (opened: { readonly log: SessionLog }) => Promise<void>;
}

/**
 * The agent of a new session, with its inputs rendered into its instructions. From then on they are part of the session,
 * and of its forks. Throws when an input is missing or wrong.
 */
export function agentForSession(
  { agent: given, inputs = {} }: Pick<StartOptions, "agent" | "inputs">,
  engines: Pick<Engines, "default">,
): StartedAgent {
  const parsed = withEngine(parseAgent(given), engines);
  const values = inputValues(parsed.inputs ?? {}, inputs);
  const agent = { ...parsed, instructions: renderInputs(parsed.instructions, values) };
  return {
    agent,
    inPlace: (cwd) => withProjectFile(agent, cwd),
    async prepare({ log }) {
      if (Object.keys(values).length > 0) await log.append([{ type: "capstan.inputs_given", values: { ...values } }]);
    },
  };
}
