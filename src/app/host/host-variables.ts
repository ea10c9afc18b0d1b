import { isCredentialVariable } from "../../config/variables/credential-names.ts";
import type { Environment } from "../../config/project/home.ts";
import { CapstanError } from "../../core/errors.ts";
import type { LookUp } from "../../core/agent/references.ts";

/** The host's variables that agents may refer to: all except credentials for the model API. */
export function hostVariables(environment: Environment): LookUp {
  return (name) => {
    if (!isCredentialVariable(name)) return environment[name];
    throw new CapstanError(
      "invalid_input",
      `the variable ${name} is a credential of the host, which agents must not see; use another one`,
      { data: { name } },
    );
  };
}
