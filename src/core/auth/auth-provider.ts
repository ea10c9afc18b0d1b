/**
 * The providers of a model API, each with its own kind of credential. By default, the first one that is configured is
 * used.
 */
export const AUTH_PROVIDERS = ["api_key", "auth_token", "oauth_token", "bedrock", "vertex", "foundry"] as const;
export type AuthProvider = (typeof AUTH_PROVIDERS)[number];
