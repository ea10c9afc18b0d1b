import type { AgentDefinition } from "./agent-definition.ts";
import type { AuthProvider } from "../auth/auth-provider.ts";
import { PROVIDER_VARIABLES } from "../auth/auth-variables.ts";

/**
 * Built-in tools that need something of the model API, by the providers that do not have it. Only what is certain: the
 * search is made by the model's provider, and the one of Amazon knows no such tool.
 */
const LACKING: Readonly<Partial<Record<AuthProvider, readonly string[]>>> = { bedrock: ["WebSearch"] };

/** Why a tool cannot be used with a provider; undefined when it can. */
export function lackOf(provider: AuthProvider, tool: string): string | undefined {
  if (LACKING[provider]?.includes(tool) !== true) return undefined;
  const { title } = PROVIDER_VARIABLES[provider];
  return `${tool} cannot be honoured by ${provider}: ${title} does not have it. Take the tool out, or use another provider`;
}

/** What a provider cannot do for an agent, each as `field: problem`. */
export function unservedBy(
  provider: AuthProvider,
  { tools, subagents }: Pick<AgentDefinition, "tools" | "subagents">,
): readonly string[] {
  const lists = [
    ["tools", tools] as const,
    ...Object.entries(subagents).map(([name, subagent]) => [`subagents.${name}.tools`, subagent.tools ?? []] as const),
  ];
  return lists.flatMap(([field, names]) =>
    names.flatMap((tool) => {
      const text = lackOf(provider, tool);
      return text === undefined ? [] : [`${field}: ${text}`];
    }),
  );
}
