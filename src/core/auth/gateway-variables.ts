import { CapstanError } from "../errors.ts";

/** Variables that point a program to another model API than the gateway, or to another way to reach it. */
const AROUND_THE_GATEWAY =
  /^(ANTHROPIC_.*|CLAUDE_CODE_USE_.*|CLAUDE_CODE_OAUTH_TOKEN|(https?|all)_proxy|NODE_OPTIONS|BUN_OPTIONS)$/i;
/** Set by bash and read-only. */
const OF_THE_SHELL = /^(UID|EUID|PPID|SHELLOPTS|BASHOPTS|BASH_VERSINFO)$/;
const OF_THE_HOST = /^CAPSTAN_SESSION$/;

/** Why an agent's commands can't have a variable of this name, and what to do; undefined if they can. */
export function problemWithVariable(name: string): string | undefined {
  if (AROUND_THE_GATEWAY.test(name))
    return "would bypass the gateway; only the host sets credentials and addresses, so remove it";
  if (OF_THE_SHELL.test(name)) return "is set by the shell and cannot be changed; remove it";
  return OF_THE_HOST.test(name) ? "is set by Capstan; remove it" : undefined;
}

/** Throws for variables that an agent's commands can't have. */
export function requireVariables(variables: Readonly<Record<string, string>>): void {
  const problems = Object.keys(variables).flatMap((name) => {
    const problem = problemWithVariable(name);
    return problem === undefined ? [] : [`variables.${name}: ${problem}`];
  });
  if (problems.length > 0) throw new CapstanError("invalid_input", problems.join("\n"), { data: { problems } });
}
