import { CapstanError } from "../errors.ts";

/** Variables by which a program finds another model API than the gateway, or another way to it. */
const AROUND_THE_GATEWAY =
  /^(ANTHROPIC_.*|CLAUDE_CODE_USE_.*|CLAUDE_CODE_OAUTH_TOKEN|(https?|all)_proxy|NODE_OPTIONS|BUN_OPTIONS)$/i;
/** Bash sets these and lets nobody change them. */
const OF_THE_SHELL = /^(UID|EUID|PPID|SHELLOPTS|BASHOPTS|BASH_VERSINFO)$/;
const OF_THE_HOST = /^CAPSTAN_SESSION$/;

/** Why an agent's commands cannot be given a variable of this name, and what to do; undefined when they can. */
export function problemWithVariable(name: string): string | undefined {
  if (AROUND_THE_GATEWAY.test(name))
    return "would lead the agent past the gateway; credentials and addresses are the host's to set, so leave it out";
  if (OF_THE_SHELL.test(name)) return "is set by the shell itself and cannot be changed; leave it out";
  return OF_THE_HOST.test(name) ? "is set by Capstan itself; leave it out" : undefined;
}

/** Throws for variables that the commands of an agent cannot be given. */
export function requireVariables(variables: Readonly<Record<string, string>>): void {
  const problems = Object.keys(variables).flatMap((name) => {
    const problem = problemWithVariable(name);
    return problem === undefined ? [] : [`variables.${name}: ${problem}`];
  });
  if (problems.length > 0) throw new CapstanError("invalid_input", problems.join("\n"), { data: { problems } });
}
