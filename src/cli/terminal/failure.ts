import { CommanderError } from "commander";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Prints the error message, never a stack trace, and returns the exit code. */
export function reportFailure(thrown: unknown): number {
  // Commander has already printed its message.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  if (thrown instanceof CapstanError) {
    process.stderr.write(`capstan: ${escapeHidden(thrown.message)}\n`);
    return thrown.exitCode;
  }
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  process.stderr.write(
    `capstan: ${escapeHidden(messageOf(thrown))}${code === undefined ? " This is a bug. Please report it." : ""}\n`,
  );
  return 3;
}

/** An error for wrong usage, with exit code 2. */
export function usageError(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
