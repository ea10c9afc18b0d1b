import { notHonoured, requireUsableSchema } from "../../app/check/agent-problems.ts";
import type { FieldProblem, ReadAgent } from "../../config/agent/agent-file.ts";
import type { Configuration } from "../../config/load.ts";
import { namedProviders } from "../../config/variables/stored-credentials.ts";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { chosenProvider } from "../../core/auth/auth-variables.ts";
import { CapstanError } from "../../core/errors.ts";
import { unservedBy } from "../../core/agent/provider-limits.ts";

/**
 * Throws if the engine, or the provider from the user's settings, cannot support the agent. For an agent file,
 * `problemsWith` reports the engine's limits together with the other problems of the file.
 */
export function requireSupported(configuration: Configuration, rehearsal: boolean | undefined): void {
  const { agent, agentFile } = configuration;
  const problems = [
    ...(agentFile === undefined ? notHonoured(agent) : []),
    ...(rehearsal === true ? [] : providerLimits(configuration)),
  ];
  if (problems.length === 0) return;
  throw withPositions(new CapstanError("invalid_agent", problems.join("\n"), { data: { problems } }), agentFile);
}

/** What the provider from the settings cannot do for an agent that names none. */
export function providerLimits({ agent, environment, settings, dotEnv, home }: Configuration): readonly string[] {
  const stored = namedProviders(home) ?? [];
  const chosen = chosenProvider({ environment, auth: settings.auth, stored, dotEnv: dotEnv?.names });
  return agent.auth !== undefined || chosen === undefined ? [] : unservedBy(chosen, agent);
}

/** What the engine cannot support, to be reported together with the file's other problems. */
export async function problemsWith(agent: AgentDefinition): Promise<readonly FieldProblem[]> {
  const { output_schema: schema } = agent;
  const wrong = schema === undefined ? [] : await requireUsableSchema(schema).then(() => [], messageIn);
  return [
    ...notHonoured(agent).map((problem) => ({
      ...(fieldProblem(problem) ?? { path: [], text: problem }),
      given: "model",
    })),
    ...wrong.map((text) => ({ path: ["output_schema"], text })),
  ];
}

function messageIn(error: unknown): readonly string[] {
  if (error instanceof CapstanError) return [error.message];
  throw error;
}

/** Adds file positions to an error whose lines start with field names. */
export function withPositions(error: unknown, agentFile: ReadAgent | undefined): unknown {
  if (!(error instanceof CapstanError) || error.code !== "invalid_agent" || agentFile === undefined) return error;
  const lines = Array.isArray(error.data["problems"]) ? (error.data["problems"] as string[]) : [error.message];
  const problems = lines.map((line) => {
    const problem = fieldProblem(line);
    return problem === undefined ? line : agentFile.error(problem.path, problem.text).message;
  });
  return new CapstanError(error.code, problems.join("\n"), { data: { ...error.data, problems }, cause: error });
}

function fieldProblem(line: string): FieldProblem | undefined {
  const [, field = "", text] = /^([\w.-]+): ([\s\S]*)$/.exec(line) ?? [];
  // In a file, this field is a part of the instructions.
  const path = field === "instructions_mode" ? ["instructions", "mode"] : field.split(".");
  return text === undefined ? undefined : { path, text };
}
