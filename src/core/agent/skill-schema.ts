import { z } from "zod";

/** Bytes, for all skills of an agent together: they are saved with each of its versions. */
export const MAX_SKILL_BYTES = 1_048_576;

/**
 * Instructions that the agent can read when it needs them. The files' contents are saved with the agent, so that a
 * session that resumes later finds them unchanged.
 */
const skill = z.strictObject({
  /** By relative path; `SKILL.md` is required. */
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
