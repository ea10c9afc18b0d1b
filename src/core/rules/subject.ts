import { z } from "zod";

/**
 * What a tool call is about, as rules see it: plain data, saved with each decision, so that other rules can be tried on
 * it later without reading a file.
 */

/** `named` is absolute, without `.` and `..`; `real` has links resolved. */
const namedPath = z.object({ named: z.string(), real: z.string() });
const pathAccess = namedPath.extend({ access: z.enum(["read", "write"]) });
const shellWord = z.object({ text: z.string(), dynamic: z.boolean() });
/** A file of a redirection; without places if the name is only known when the command runs. */
const redirection = z.object({ text: z.string(), places: z.array(namedPath) });

/** An option that writes, deletes or runs something: a rule covers it only by naming it. */
const shellEffect = z.object({
  /** The index of its word in the command. */
  word: z.number(),
  option: z.string(),
  /** The start of the word that contains the option. */
  written: z.string(),
  does: z.string(),
  /** The word is only known when the command runs. */
  doubtful: z.boolean().optional(),
});

const shellSubject = z.object({
  commands: z.array(
    z.object({
      words: z.array(shellWord),
      assignments: z.array(z.string()),
      via: z.array(z.string()),
      effects: z.array(shellEffect).optional(),
    }),
  ),
  writes: z.array(redirection),
  reads: z.array(redirection),
  /** Paths among the words, as far as they can be recognized. */
  mentions: z.array(namedPath),
  /** There are more than were checked. */
  more_mentions: z.boolean().optional(),
  /** Directories that commands use as a whole. */
  searched: z.array(pathAccess).optional(),
  /** Words that may name a file, and are only known when the command runs. */
  vague: z.array(z.string()).optional(),
  /**
   * What changes to a directory that is only known when it runs, and the index of the first command that may run there.
   */
  lost: z.object({ by: z.string(), from: z.number() }).optional(),
  /** Why the command could not be fully parsed, one sentence each. */
  unclear: z.array(z.string()),
});

export const callSubject = z.object({
  tool: z.string(),
  /** Why no tool may run with this input: it is unclear which file it means. */
  refused: z.string().optional(),
  /** All paths in the input. One name may have several places, if programs read it differently. */
  paths: z.array(pathAccess),
  /** The paths are directories to search: everything below them is read. */
  search: z.boolean().optional(),
  shell: shellSubject.optional(),
  /** The URL's host name, in lower case. */
  domain: z.string().optional(),
  subagent: z.string().optional(),
  /** The name of a skill. */
  skill: z.string().optional(),
  mcp: z.object({ server: z.string(), tool: z.string() }).optional(),
  /** Everything named is in the workspace, with links resolved. */
  inside: z.boolean(),
  /** Configuration that the call could change, as found in the file system; see protected/table.ts. */
  guarded: z.array(z.object({ path: z.string(), pattern: z.string() })).optional(),
  /** With links resolved. */
  workspace: z.string(),
  home: z.string(),
  /** The HOME of the session's commands, which `~` also means in a shell command. */
  shell_home: z.string().optional(),
});

export type CallSubject = z.infer<typeof callSubject>;
export type ShellSubject = z.infer<typeof shellSubject>;
export type ShellEffect = z.infer<typeof shellEffect>;
export type NamedPath = z.infer<typeof namedPath>;
export type PathAccess = z.infer<typeof pathAccess>;
export type Redirection = z.infer<typeof redirection>;

/** What a tool can do, whatever its input. */
export const toolTraits = z.object({
  readOnly: z.boolean(),
  edit: z.boolean(),
  safeInternal: z.boolean(),
  /** It runs in a client, which is asked for its result. */
  custom: z.boolean().optional(),
});
export type ToolTraits = z.infer<typeof toolTraits>;
