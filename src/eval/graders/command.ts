import { parseDuration } from "../../core/text/duration.ts";
import { messageOf } from "../../core/errors.ts";
import type { HookCommandEnd } from "../../core/ports/hooks.ts";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { allOf, failedWith, type Finding, GraderError, passedWith, type GraderContext } from "./grader.ts";
import { checkText } from "./text.ts";
import { duration } from "../../words/amounts.ts";

const TIMEOUT = "1m";
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 4_000;

/** Runs a shell command in the workspace. It may change files, which later graders then see. */
export async function gradeCommand(given: GraderParams<"command">, { facts, deps }: GraderContext): Promise<Finding> {
  const { run, exit_code: expected, stdout, timeout } = typeof given === "string" ? { ...PLAIN, run: given } : given;
  const ms = parseDuration(timeout ?? TIMEOUT);
  const late = AbortSignal.timeout(ms);
  const end = await deps
    .runCommand(run, {
      stdin: "",
      cwd: facts.workspace,
      stateDir: deps.stateDir,
      sandbox: deps.sandbox,
      signal: AbortSignal.any([deps.signal, late]),
    })
    .catch((thrown: unknown) => {
      if (late.aborted) return KILLED;
      throw new GraderError(`\`${run}\` could not be run: ${messageOf(thrown)}`);
    });
  if (late.aborted && end.exitCode === null)
    return failedWith(`expected \`${run}\` to end within ${duration(ms)} (it was killed)${tailOf(end)}`);
  if (end.exitCode !== expected)
    return failedWith(`expected \`${run}\` to exit with code ${expected} (found ${exitOf(end)})${tailOf(end)}`);
  const ended = passedWith(`\`${run}\` exited with code ${expected}`);
  return stdout === undefined ? ended : allOf([ended, checkText(`what \`${run}\` printed`, end.stdout, stdout)]);
}

const PLAIN = { exit_code: 0, stdout: undefined, timeout: undefined };
const KILLED: HookCommandEnd = { exitCode: null, stdout: "", stderr: "" };

function exitOf({ exitCode }: HookCommandEnd): string {
  return exitCode === null ? "that a signal ended it" : `${exitCode}`;
}

function tailOf({ stdout, stderr }: HookCommandEnd): string {
  const printed = [stdout, stderr].map((text) => text.trimEnd()).filter((text) => text !== "");
  const lines = printed.join("\n").slice(-TAIL_CHARACTERS).split("\n").slice(-TAIL_LINES);
  return printed.length === 0 ? "; it printed nothing" : `; it printed:\n${lines.join("\n")}`;
}
