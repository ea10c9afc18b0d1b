import {
  commandOf,
  type CommandPattern,
  matchCommand,
  parseCommandPattern,
} from "../../../core/rules/match-command.ts";
import { readCommands } from "../../../core/shell/read-commands.ts";
import type { SandboxPlan } from "../../../core/environment/sandbox.ts";

/**
 * Whether a command runs outside the sandbox: every part of it certainly matches an excluded command. The permission
 * decision takes the opposite view, where one part that may match is enough, so every command that leaves the sandbox
 * here was decided as an unconfined one.
 */
export function leavesSandbox(command: string, { excludedCommands }: Pick<SandboxPlan, "excludedCommands">): boolean {
  if (excludedCommands.length === 0) return false;
  const patterns = excludedCommands
    .map(parseCommandPattern)
    .filter((pattern): pattern is CommandPattern => typeof pattern !== "string");
  const { commands, unclear } = readCommands(command);
  return (
    unclear.length === 0 &&
    commands.length > 0 &&
    commands.every(
      ({ words, effects, assignments }) =>
        assignments.length === 0 &&
        patterns.some((pattern) => matchCommand(pattern, commandOf(words, effects), "allow") === "yes"),
    )
  );
}
