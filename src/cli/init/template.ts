/** What a new agent begins with. */
export interface Template {
  /** For the choice. */
  readonly title: string;
  /** A message that shows what it does, in rehearsal as with a real model. */
  readonly firstMessage: string;
  /** By their paths. `agent.yaml` is one of them. */
  files(agent: NewAgent): Readonly<Record<string, string>>;
}

export interface NewAgent {
  readonly name: string;
  /** The path of the JSON Schema of agent files, for editors. That of suites lies beside it. */
  readonly schema: string;
}

export const AGENT_SCHEMA = "agent.schema.json";
export const SUITE_SCHEMA = "suite.schema.json";

/** The line by which editors with a YAML server find the schema. */
export function schemaLine({ schema }: NewAgent): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}

/** How the suite of a new agent begins. */
export function suiteHead({ name, schema }: NewAgent): string {
  return `${schemaLine({ name, schema: schema.replace(AGENT_SCHEMA, SUITE_SCHEMA) })}# capstan test --rehearsal; with a key: capstan test --record, and then capstan test replays it without.
suite: ${name}
agent: agent.yaml
`;
}
