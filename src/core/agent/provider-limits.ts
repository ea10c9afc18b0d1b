import type { AgentDefinition } from "./agent-definition.ts";
import type { AuthProvider } from "../auth/auth-provider.ts";
import { PROVIDER_VARIABLES } from "../auth/auth-variables.ts";

/**
 * Built-in tools that need a feature of the model API, by the providers that lack it. Lists only what is certain: the
 * model's provider runs web searches, and Amazon Bedrock has no such tool.
 */
const LACKING: Readonly<Partial<Record<AuthProvider, readonly string[]>>> = { bedrock: ["WebSearch"] };

/** Why a tool can't be used with a provider; undefined if it can. */
export function providerLack(provider: AuthProvider, tool: string): string | undefined {
  if (LACKING[provider]?.includes(tool) !== true) return undefined;
  const { title } = PROVIDER_VARIABLES[provider];
  return `${tool} is not available with ${provider}: ${title} does not support it. Remove the tool, or use another provider`;
}

/** What a provider can't do for an agent, each as `field: problem`. */
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
      const text = providerLack(provider, tool);
      return text === undefined ? [] : [`${field}: ${text}`];
    }),
  );
}
