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
  /** The path of the JSON Schema, for editors. */
  readonly schema: string;
}

/** The line by which editors with a YAML server find the schema. */
export function schemaLine({ schema }: NewAgent): string {
  return `# yaml-language-server: $schema=${schema}\n`;
}
