import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { InputValues } from "../agent/agent-inputs.ts";
import type { EngineName } from "../agent/engine-name.ts";
import type { EnvironmentDefinition } from "../environment/environment.ts";
import type { Fault } from "./fault-schema.ts";
import type { Grader } from "./grader-schema.ts";
import type { AnswerAsWritten, SuiteAsWritten } from "./suite-schema.ts";

/** A parsed suite: defaults are in the cases, paths are absolute, graders have their kind. */
export interface Suite {
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  readonly agent: AgentDefinition;
  /** Hash of its definition, to distinguish versions. */
  readonly agentHash: string;
  readonly environment: EnvironmentDefinition;
  /** The agent's programs when their trust was checked: SHA-256 by absolute path. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly judge: string | undefined;
  readonly gates: Omit<NonNullable<SuiteAsWritten["gates"]>, "duration"> & { readonly durationMs?: number | undefined };
  readonly margins: NonNullable<SuiteAsWritten["margins"]>;
  readonly cases: readonly Case[];
}

export interface Case {
  readonly name: string;
  /** Its position, as `file:line`. */
  readonly place: string;
  readonly tags: readonly string[];
  readonly engine: EngineName;
  readonly trials: number;
  readonly passRate: number;
  readonly timeoutMs: number;
  readonly workspace: "trial" | "here";
  /** Absolute path of a directory that is copied for every trial. */
  readonly fixture: string | undefined;
  readonly files: Readonly<Record<string, string>>;
  /** The workspace is a git repository with its files committed. */
  readonly git: boolean;
  readonly turns: readonly CaseTurn[];
  readonly answers: readonly AnswerAsWritten[];
  readonly inputs: InputValues;
  readonly variables: Readonly<Record<string, string>>;
  readonly graders: readonly Grader[];
  readonly faults: readonly Fault[];
  readonly ignore: readonly RegExp[];
  readonly only: boolean;
  /** Why it is skipped. */
  readonly skip: string | undefined;
}

export interface CaseTurn {
  readonly input: string;
  readonly interruptAfter: { readonly toolCalls: number } | undefined;
}
