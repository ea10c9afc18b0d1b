import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { StandardSchema } from "../../core/agent/standard-schema.ts";
import type { TurnEnd } from "../../core/ports/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { OutputCheck, OutputChecks } from "../../core/agent/output.ts";

/** Checks the output again, whatever the engine says: a completed turn with a wrong output is a failed one. */
export async function checkOutput(end: TurnEnd, output: OutputCheck<unknown> | undefined): Promise<TurnEnd> {
  if (end.outcome !== "completed" || end.output === undefined || output === undefined) return end;
  const checked = await output.check(end.output).catch((thrown: unknown) => ({ problems: [messageOf(thrown)] }));
  if ("value" in checked) return { ...end, output: checked.value };
  const { problems } = checked;
  const message = `The agent's output does not match its schema: ${problems.join("; ")}. Send the message again.`;
  return { ...end, outcome: "failed", error: new CapstanError("output_invalid", message, { data: { problems } }) };
}

/** The check of a session's final answer, and the agent with the schema for it. */
export async function withOutput<Output>(
  outputs: OutputChecks,
  agent: AgentDefinition,
  schema: StandardSchema<unknown, Output> | undefined,
): Promise<{ agent: AgentDefinition; output: OutputCheck<unknown> | undefined }> {
  if (schema === undefined)
    return { agent, output: agent.output_schema && (await outputs.fromJsonSchema(agent.output_schema)) };
  const output = await outputs.fromSchema(schema);
  return { agent: { ...agent, output_schema: { ...output.jsonSchema } }, output };
}
