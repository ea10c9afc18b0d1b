import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { agentText } from "../../config/agent/agent-text.ts";
import type { Environment } from "../../config/project/home.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { ASSUMED_TRUST } from "../../config/trust/recorded-trust.ts";
import { type InputValues, renderInputs } from "../../core/agent/agent-inputs.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { withProjectFile } from "../../runtime/recovery/project-file.ts";

export interface RecordedAgentRequest {
  readonly record: SessionRecord;
  /** The session's input values. */
  readonly inputs: InputValues;
  /** The directory of the suite. */
  readonly directory: string;
  /** The directory of its files at the start. */
  readonly fixture: string | undefined;
  readonly environment: Environment;
  /** The agent file that was named. */
  readonly agentFile: string | undefined;
}

export interface ChosenAgent {
  /** The path in the suite. */
  readonly path: string;
  readonly inputs: InputValues;
  /** The text to write, if no file defines the session's agent. */
  readonly text: string | undefined;
}

/** Finds the file that defines the session's agent as it was then, or creates the text of a new one. */
export async function agentForSuite(request: RecordedAgentRequest): Promise<ChosenAgent> {
  const { record, inputs, directory, environment, agentFile } = request;
  const beside = join(directory, "agent.yaml");
  const candidate = agentFile ?? (existsSync(beside) ? beside : undefined);
  if (candidate !== undefined) {
    const configuration = await loadConfiguration({
      cwd: directory,
      environment,
      flags: {},
      agentFile: candidate,
      trust: ASSUMED_TRUST,
    });
    const others = differsIn(configuration, request);
    if (others.length === 0) return { path: asWritten(directory, candidate), inputs, text: undefined };
    if (agentFile !== undefined) throw anotherAgent(agentFile, others);
  }
  const path = candidate === undefined ? "agent.yaml" : `${record.agent.name}.agent.yaml`;
  if (existsSync(join(directory, path)))
    throw new CapstanError(
      "invalid_input",
      `Neither agent.yaml nor ${path} in ${directory} is the session's agent, so a new agent file cannot be created there. Choose another suite with --suite, or name the agent's file with --agent.`,
    );
  return { path, inputs: {}, text: agentText(record.agent, record.environment) };
}

export function anotherAgent(file: string, others: readonly string[]): CapstanError {
  return new CapstanError(
    "invalid_input",
    `${file} is not the session's agent: it differs in ${others.join(", ")}. Choose another suite with --suite, or omit --agent to create a file.`,
  );
}

/** The fields in which a file's agent or environment differs. */
export function differsIn(
  { agent, sessionEnvironment }: Pick<Configuration, "agent" | "sessionEnvironment">,
  { record, inputs, fixture }: Pick<RecordedAgentRequest, "record" | "inputs" | "fixture">,
): readonly string[] {
  const told = { ...agent, instructions: renderInputs(agent.instructions, inputs) };
  const now = plain(fixture === undefined ? told : withProjectFile(told, fixture).agent);
  const then = plain(record.agent);
  // The case names the engine.
  const fields = [...new Set([...Object.keys(now), ...Object.keys(then)])].filter((field) => field !== "engine");
  const [here, there] = [plain(sessionEnvironment), plain(record.environment)];
  return [
    ...fields.filter((field) => !isDeepStrictEqual(now[field], then[field])),
    // A trial has its own workspace, whatever the session had.
    ...["sandbox", "limits", "variables"]
      .filter((field) => !isDeepStrictEqual(here[field], there[field]))
      .map((field) => `environment.${field}`),
  ];
}

/** As it is saved. */
function plain(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
}

function asWritten(directory: string, file: string): string {
  return relative(directory, file).split(sep).join("/");
}
