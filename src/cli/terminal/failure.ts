import { CommanderError } from "commander";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Says what went wrong in a sentence with the next step, and returns the exit code. Never a stack. */
export function reportFailure(thrown: unknown): number {
  // Commander has printed its own text already.
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  if (thrown instanceof CapstanError) {
    process.stderr.write(`capstan: ${escapeHidden(thrown.message)}\n`);
    return thrown.exitCode;
  }
  const code = (thrown as NodeJS.ErrnoException | undefined)?.code;
  process.stderr.write(
    `capstan: ${escapeHidden(messageOf(thrown))}${code === undefined ? " This is a bug; please report it." : ""}\n`,
  );
  return 3;
}

/** Ends a command that was used wrongly. */
export function usage(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
