/** The ways to a model API, each with a credential of its own kind. Where nobody chose, the first that is set is used. */
export const AUTH_PROVIDERS = ["api_key", "auth_token", "oauth_token", "bedrock", "vertex", "foundry"] as const;
export type AuthProvider = (typeof AUTH_PROVIDERS)[number];
