import { z } from "zod";
import { CapstanError } from "../../core/errors.ts";

/** What a client wrote cannot be done. The message names the field and says what would be right. */
export function invalid(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}

/** A request for something that Capstan does not do. */
export function notSupported(what: string, next: string): CapstanError {
  return new CapstanError("unsupported", `Capstan does not support ${what}. ${next}`);
}

/** How many wrong fields an error names, and how much it says about each, in characters. */
const MAX_PROBLEMS = 20;
const MAX_PROBLEM = 300;

/** Checks a part of a request, such as `the body`; the error names the wrong fields and what was expected there. */
export function parseRequest<Schema extends z.ZodType>(part: string, schema: Schema, value: unknown): z.output<Schema> {
  // Not `safeParse`, which writes out every issue: thousands of them take ten times as long as finding them.
  const { value: parsed, issues } = ranNow(schema._zod.run({ value, issues: [] }, { async: false }));
  if (issues.length === 0) return parsed as z.output<Schema>;
  const problems = issues
    .slice(0, MAX_PROBLEMS)
    .map((issue) => z.core.util.finalizeIssue(issue, {}, z.core.config()))
    .map(({ path, message }) =>
      clipped([...(path.length === 0 ? [] : [path.join(".")]), message.replace(/\.$/, "")].join(": ")),
    );
  if (issues.length > MAX_PROBLEMS) problems.push(`and ${issues.length - MAX_PROBLEMS} more`);
  throw new CapstanError("invalid_input", `Something is wrong in ${part}. ${problems.join("; ")}.`, {
    data: { problems },
  });
}

function ranNow(result: z.core.util.MaybeAsync<z.core.ParsePayload>): z.core.ParsePayload {
  if (result instanceof Promise) throw new z.core.$ZodAsyncError();
  return result;
}

function clipped(text: string): string {
  return text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM)}…` : text;
}
