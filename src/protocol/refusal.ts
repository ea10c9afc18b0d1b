import type { z } from "zod";
import { CapstanError } from "../core/errors.ts";

/** What a client wrote cannot be done. The message names the field and says what would be right. */
export function invalid(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}

/** A request for something that Capstan does not do. */
export function notSupported(what: string, next: string): CapstanError {
  return new CapstanError("unsupported", `Capstan does not support ${what}. ${next}`);
}

/** Checks a part of a request, such as `the body`; the error names every wrong field and what was expected there. */
export function parseRequest<Schema extends z.ZodType>(part: string, schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) =>
    [...(path.length === 0 ? [] : [path.join(".")]), message.replace(/\.$/, "")].join(": "),
  );
  throw new CapstanError("invalid_input", `Something is wrong in ${part}. ${problems.join("; ")}.`, {
    data: { problems },
  });
}
