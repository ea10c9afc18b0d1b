import type { z } from "zod";
import { ApiFailure } from "../failure.ts";

const PLACES: Readonly<Record<string, string>> = { json: "the body", query: "the query", param: "the path" };

/** Says of every wrong field where it is and what was expected there. */
export function invalidRequest(target: string, { issues }: z.core.$ZodError): ApiFailure {
  const problems = issues.map((issue) => {
    const field = issue.path.join(".");
    return field === "" ? withoutStop(issue.message) : `${field}: ${withoutStop(issue.message)}`;
  });
  return new ApiFailure(
    "invalid_request_error",
    `Something is wrong in ${PLACES[target] ?? target}. ${problems.join("; ")}.`,
    { details: { error_code: "invalid_input", problems } },
  );
}

function withoutStop(message: string): string {
  return message.replace(/\.$/, "");
}
