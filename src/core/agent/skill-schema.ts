import { z } from "zod";

/** For all skills of an agent together, in bytes: they are kept with every version of it. */
export const MAX_SKILL_BYTES = 1_048_576;

/**
 * Something the agent can read up on when it needs it. Its files are kept with the agent, and not only named: a session
 * that wakes up tomorrow finds them as they were.
 */
const skill = z.strictObject({
  /** By their paths in the skill, relative; `SKILL.md` is one of them. */
  files: z
    .record(
      z.string().regex(/^(?!.*(^|\/)\.\.?(\/|$))[^/\\\0][^\\\0]*$/, "a relative path without . and .."),
      z.strictObject({ content: z.string(), encoding: z.enum(["utf8", "base64"]) }),
    )
    .refine((files) => Object.hasOwn(files, "SKILL.md"), "a skill needs a file SKILL.md"),
});

export const skills = z
  .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "lower-case letters, digits and dashes"), skill)
  .refine(
    (all) =>
      Object.values(all)
        .flatMap(({ files }) => Object.values(files))
        .reduce((sum, { content }) => sum + content.length, 0) <= MAX_SKILL_BYTES,
    `the files of all skills together have more than ${MAX_SKILL_BYTES} bytes`,
  );

export type Skills = z.infer<typeof skills>;
