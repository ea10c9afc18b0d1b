import { resolve } from "node:path";
import type { EventOf } from "../../core/events/events.ts";

type Input = Readonly<Record<string, unknown>>;

const PATH_FIELDS = ["file_path", "notebook_path", "path"];

/**
 * What runs, as it is shown. A path that was only written out stays as the agent wrote it; one that somebody changed does not.
 * Undefined when the call runs as it was made.
 */
export function decidedInput(
  made: Input,
  { input, subject }: Pick<EventOf<"capstan.permission_decided">, "input" | "subject">,
): Input | undefined {
  if (input === undefined || subject === undefined) return input;
  const isWrittenOut = (field: string): boolean => {
    const path = made[field];
    return typeof path === "string" && resolve(subject.workspace, path) === input[field];
  };
  return { ...input, ...Object.fromEntries(PATH_FIELDS.filter(isWrittenOut).map((field) => [field, made[field]])) };
}
