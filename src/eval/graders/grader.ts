import type { CommandEnd, CommandSurroundings } from "../../core/ports/hooks.ts";
import type { OutputChecks } from "../../core/agent/output.ts";
import type { SandboxPlan } from "../../core/environment/sandbox.ts";
import type { TrialFacts } from "../trial/trial-facts.ts";

/** What graders need from outside. */
export interface GraderDeps {
  readonly outputs: OutputChecks;
  /** As core/hooks.ts has it: with an environment built from nothing, and nothing of it left at its end. */
  readonly runCommand: (command: string, surroundings: CommandSurroundings) => Promise<CommandEnd>;
  /** A directory outside of the workspace, for the homes of commands. */
  readonly stateDir: string;
  /** What the session's commands are kept from, and so those of graders: they may run what the agent wrote. */
  readonly sandbox: SandboxPlan;
  readonly judge: Judge;
  /** The suite's judge, for graders that name none. */
  readonly judgeModel: string | undefined;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Asks a model. What it answers is checked by the grader, for a model may answer anything. */
export type Judge = (request: JudgeRequest) => Promise<unknown>;

export interface JudgeRequest {
  readonly model: string;
  readonly prompt: string;
  /** JSON Schema of the answer. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** What a grader looks at. */
export interface Surroundings {
  readonly facts: TrialFacts;
  readonly deps: GraderDeps;
}

/** What a grader found. */
export interface Finding {
  readonly passed: boolean;
  /** From 0 to 1. Default: 1 when it passed, else 0. */
  readonly score?: number | undefined;
  readonly message: string;
  readonly diff?: string | undefined;
}

/** The grader could not say anything: neither the agent nor the case may be blamed for that. */
export class GraderError extends Error {
  override readonly name = "GraderError";
}

export function passedWith(message: string): Finding {
  return { passed: true, message };
}

export function failedWith(message: string, diff?: string): Finding {
  return { passed: false, message, diff };
}

/** One finding of several, all of which must pass; those that failed have the word. */
export function allOf(findings: readonly Finding[]): Finding {
  const failed = findings.filter(({ passed }) => !passed);
  const told = failed.length === 0 ? findings : failed;
  const diff = failed.flatMap((one) => one.diff ?? []).join("\n");
  return {
    passed: failed.length === 0,
    message: told.map(({ message }) => message).join("\n"),
    diff: diff === "" ? undefined : diff,
  };
}
