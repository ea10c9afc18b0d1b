import { z } from "zod";

/**
 * What a tool call is about, as rules look at it: plain data, stored with each decision, so that changed rules can be
 * tried on it later without touching a file.
 */

/** `named` is absolute, with `.` and `..` taken out; `real` is where its links lead. */
const place = z.object({ named: z.string(), real: z.string() });
const pathAccess = place.extend({ access: z.enum(["read", "write"]) });
const shellWord = z.object({ text: z.string(), dynamic: z.boolean() });
/** A file that a redirection names; without places when the name is only known when the command runs. */
const redirection = z.object({ text: z.string(), places: z.array(place) });

/** An option that writes, deletes or runs something: a rule covers it only by naming it. */
const shellEffect = z.object({
  /** The place of its word in the command. */
  word: z.number(),
  option: z.string(),
  /** How the word begins that gives the option. */
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
  /** Paths among the words, as far as they can be told. */
  mentions: z.array(place),
  /** There are more than were looked at. */
  more_mentions: z.boolean().optional(),
  /** Directories of which commands take all that is in them. */
  searched: z.array(pathAccess).optional(),
  /** Words that may name a file, and are only known when the command runs. */
  vague: z.array(z.string()).optional(),
  /** What leads to a directory that is only known when it runs, and the place of the first command that may run there. */
  lost: z.object({ by: z.string(), from: z.number() }).optional(),
  /** Why the command is not fully understood, a sentence each. */
  unclear: z.array(z.string()),
});

export const callSubject = z.object({
  tool: z.string(),
  /** Why no tool may run with this input: nobody can say which file it means. */
  refused: z.string().optional(),
  /** All that the input names. One name may have several places, where readers of it differ. */
  paths: z.array(pathAccess),
  /** The paths are directories to be searched: whatever is below them is read. */
  search: z.boolean().optional(),
  shell: shellSubject.optional(),
  /** The host name of the address, in lower case. */
  domain: z.string().optional(),
  subagent: z.string().optional(),
  /** The name of a skill. */
  skill: z.string().optional(),
  mcp: z.object({ server: z.string(), tool: z.string() }).optional(),
  /** Everything named lies in the workspace, links resolved. */
  inside: z.boolean(),
  /** Configuration that the call could change, as only a look at the file system shows; see protected/table.ts. */
  guarded: z.array(z.object({ path: z.string(), pattern: z.string() })).optional(),
  /** Without links. */
  workspace: z.string(),
  home: z.string(),
  /** The HOME of the session's commands, for which `~` stands as well in a shell command. */
  shell_home: z.string().optional(),
});

export type CallSubject = z.infer<typeof callSubject>;
export type ShellSubject = z.infer<typeof shellSubject>;
export type ShellEffect = z.infer<typeof shellEffect>;
export type Place = z.infer<typeof place>;
export type PathAccess = z.infer<typeof pathAccess>;
export type Redirection = z.infer<typeof redirection>;

/** What a tool can do, whatever it is called with. */
export const toolTraits = z.object({
  readOnly: z.boolean(),
  edit: z.boolean(),
  safeInternal: z.boolean(),
  /** It runs in a client, which is asked for its result. */
  custom: z.boolean().optional(),
});
export type ToolTraits = z.infer<typeof toolTraits>;
