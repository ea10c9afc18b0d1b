import { resolve } from "node:path";
import type { EventOf } from "../../core/events/events.ts";

type Input = Readonly<Record<string, unknown>>;

const PATH_FIELDS = ["file_path", "notebook_path", "path"];

/**
 * The input that runs, for display. A path that was only made absolute is shown as the agent wrote it.
 * Undefined if the call runs unchanged.
 */
export function decidedInput(
  made: Input,
  { input, subject }: Pick<EventOf<"capstan.permission_decided">, "input" | "subject">,
): Input | undefined {
  if (input === undefined || subject === undefined) return input;
  const isSamePath = (field: string): boolean => {
    const path = made[field];
    return typeof path === "string" && resolve(subject.workspace, path) === input[field];
  };
  return { ...input, ...Object.fromEntries(PATH_FIELDS.filter(isSamePath).map((field) => [field, made[field]])) };
}
