/** The initial files of a new agent. */
export interface Template {
  /** Shown in the list of templates. */
  readonly title: string;
  /** A first message that works with the scripted model and with a real one. */
  readonly firstMessage: string;
  /** By path. Includes `agent.yaml`. */
  files(agent: NewAgent): Readonly<Record<string, string>>;
}

export interface NewAgent {
  readonly name: string;
  /** The path of the JSON Schema of agent files, for editors. The schema of suites is next to it. */
  readonly schema: string;
}

export const AGENT_SCHEMA = "agent.schema.json";
export const SUITE_SCHEMA = "suite.schema.json";

/** The comment that tells editors where the schema is. */
export function schemaLine({ schema }: NewAgent): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}

/** The first lines of a new agent's suite. */
export function suiteHead({ name, schema }: NewAgent): string {
  return `${schemaLine({ name, schema: schema.replace(AGENT_SCHEMA, SUITE_SCHEMA) })}# Try it with capstan test --rehearsal. With a key, record with capstan test --record; capstan test then replays without one.
suite: ${name}
agent: agent.yaml
`;
}
