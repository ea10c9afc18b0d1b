import type { HookCommandEnd, CommandSurroundings } from "../../core/ports/hooks.ts";
import type { OutputChecks } from "../../core/agent/output.ts";
import type { SandboxPlan } from "../../core/environment/sandbox.ts";
import type { TrialFacts } from "../trial/trial-facts.ts";

/** Dependencies of graders. */
export interface GraderDeps {
  readonly outputs: OutputChecks;
  /** As in core/hooks.ts: with a minimal environment, and everything it started ends with it. */
  readonly runCommand: (command: string, surroundings: CommandSurroundings) => Promise<HookCommandEnd>;
  /** A directory outside of the workspace, for the HOME of commands. */
  readonly stateDir: string;
  /** The session's sandbox, which also applies to graders' commands: they may run what the agent wrote. */
  readonly sandbox: SandboxPlan;
  readonly judge: Judge;
  /** The suite's judge, for graders that name none. */
  readonly judgeModel: string | undefined;
  /** Stops the grader. */
  readonly signal: AbortSignal;
}

/** Asks a model. The grader validates the answer, because a model may answer anything. */
export type Judge = (request: JudgeRequest) => Promise<unknown>;

export interface JudgeRequest {
  readonly model: string;
  readonly prompt: string;
  /** JSON Schema of the answer. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** The data that a grader works on. */
export interface GraderContext {
  readonly facts: TrialFacts;
  readonly deps: GraderDeps;
}

/** A grader's result. */
export interface Finding {
  readonly passed: boolean;
  /** From 0 to 1. Default: 1 if it passed, otherwise 0. */
  readonly score?: number | undefined;
  readonly message: string;
  readonly diff?: string | undefined;
}

/** The grader could not decide: neither the agent nor the case is at fault. */
export class GraderError extends Error {
  override readonly name = "GraderError";
}

export function passedWith(message: string): Finding {
  return { passed: true, message };
}

export function failedWith(message: string, diff?: string): Finding {
  return { passed: false, message, diff };
}

/** Combines several findings, all of which must pass; reports those that failed. */
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
