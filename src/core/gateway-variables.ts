/** Variables by which an agent's process finds another model API than the gateway, or another way to it. */
const AROUND_THE_GATEWAY =
  /^(ANTHROPIC_.*|CLAUDE_CODE_USE_.*|CLAUDE_CODE_OAUTH_TOKEN|(https?|all)_proxy|NODE_OPTIONS|BUN_OPTIONS)$/i;

export function leadsPastGateway(name: string): boolean {
  return AROUND_THE_GATEWAY.test(name);
}

export const LEADS_PAST =
  "would lead the agent past the gateway; credentials and addresses are the host's to set, so leave it out";
