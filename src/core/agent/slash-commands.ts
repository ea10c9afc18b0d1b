import { z } from "zod";

/** Short names for messages: `/review src` expands to its prompt, with `src` for `{{args}}`. */
const NAME = /^[a-z][a-z0-9-]{0,62}$/;
/** Where the arguments go (default: below the prompt). */
const ARGUMENTS = /\{\{\s*args\s*\}\}/g;

const slashCommand = z.strictObject({
  description: z.string().min(1).optional(),
  prompt: z.string().min(1),
});

export const slashCommands = z.record(
  z.string().regex(NAME, "lower-case letters, digits and dashes, starting with a letter"),
  slashCommand,
);

export type SlashCommands = z.infer<typeof slashCommands>;

/**
 * The message that `/name words` expands to; undefined if the text is not one of the agent's commands. A space before
 * the slash prevents expansion.
 */
export function expandCommand(
  { commands = {} }: { readonly commands?: SlashCommands },
  text: string,
): string | undefined {
  const [, name = "", words = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(text.trimEnd()) ?? [];
  const prompt = Object.hasOwn(commands, name) ? commands[name]?.prompt : undefined;
  if (prompt === undefined) return undefined;
  if (prompt.match(ARGUMENTS) !== null) return prompt.replaceAll(ARGUMENTS, () => words);
  return words === "" ? prompt : `${prompt}\n\n${words}`;
}
