import { z } from "zod";
import { CapstanError } from "../../core/errors.ts";

/** An invalid request. The message names the field and says what is valid. */
export function invalid(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}

/** A request for something that Capstan does not support. */
export function notSupported(what: string, next: string): CapstanError {
  return new CapstanError("unsupported", `Capstan does not support ${what}. ${next}`);
}

/** How many wrong fields an error names, and the length of each message in characters. */
const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 300;

/** Validates a part of a request, such as `the body`; the error names the wrong fields and what was expected. */
export function parseRequest<Schema extends z.ZodType>(part: string, schema: Schema, value: unknown): z.output<Schema> {
  // Not `safeParse`, which formats every issue: for thousands of them that takes ten times as long as finding them.
  const { value: parsed, issues } = ranNow(schema._zod.run({ value, issues: [] }, { async: false }));
  if (issues.length === 0) return parsed as z.output<Schema>;
  const problems = issues
    .slice(0, MAX_PROBLEMS)
    .map((issue) => z.core.util.finalizeIssue(issue, {}, z.core.config()))
    .map(({ path, message }) =>
      clip([...(path.length === 0 ? [] : [path.join(".")]), message.replace(/\.$/, "")].join(": ")),
    );
  if (issues.length > MAX_PROBLEMS) problems.push(`and ${issues.length - MAX_PROBLEMS} more`);
  throw new CapstanError("invalid_input", `Invalid value in ${part}: ${problems.join("; ")}.`, {
    data: { problems },
  });
}

function ranNow(result: z.core.util.MaybeAsync<z.core.ParsePayload>): z.core.ParsePayload {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError();
  return result;
}

function clip(text: string): string {
  return text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM)}…` : text;
}
