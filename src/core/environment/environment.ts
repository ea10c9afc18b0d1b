import { z } from "zod";
import { CapstanError } from "../errors.ts";

/**
 * Where a session works: its workspace, its checkpoints, and how its commands are confined. Unknown keys are errors,
 * and every field has a consumer.
 */

const MEBIBYTE = 1_048_576;

const count = z.int().positive();
const bytes = count;
const text = z.string().min(1);
const texts = z.array(text).default([]);
/** Absolute, starting with `~`, or relative to the directory the session was started in. */
const path = text;
const paths = texts;
const variableName = z.string().regex(/^[A-Za-z_]\w*$/, "a name of a variable");

const mount = z.strictObject({
  /** A file or directory of the host. */
  source: path,
  /** Its relative path in the workspace. Default: the last name of the source; `.` for the workspace itself. */
  target: text.optional(),
  /** Include only files that match one of these (default: all). */
  include: texts,
  /** Exclude files that match; a pattern with `!` includes again what an earlier one excluded. */
  exclude: texts,
  /** Leave out files that `.gitignore` files in the mount exclude. */
  gitignore: z.boolean().default(false),
  max_bytes: bytes.optional(),
  max_files: count.optional(),
  /** `follow` copies a link's target if it is in the mount. */
  symlinks: z.enum(["skip", "follow"]).default("skip"),
  /** The agent can't change it, and changes are never applied back. */
  read_only: z.boolean().default(false),
});

const workspace = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("in-place"),
    /** What a turn does while another session works in the same directory. */
    when_busy: z.enum(["wait", "refuse"]).default("wait"),
  }),
  z.strictObject({
    kind: z.literal("copy"),
    /** If empty, the workspace starts empty. */
    mounts: z.array(mount),
    /** For all mounts together. */
    max_bytes: bytes.default(1024 * MEBIBYTE),
    max_files: count.default(100_000),
  }),
  z.strictObject({
    kind: z.literal("worktree"),
    /** What the branch starts from (default: the commit that is checked out). */
    base: text.optional(),
    /** Default: `capstan/` and the session's id. */
    branch: text.optional(),
  }),
  z.strictObject({
    kind: z.literal("clone"),
    /** A repository's URL or path (default: the one that the session is started in). */
    from: text.optional(),
    /** A branch, a tag or a commit (default: what the repository has checked out). */
    ref: text.optional(),
    /** How many commits of history (default: all). */
    depth: count.optional(),
  }),
]);

const checkpoints = z.strictObject({
  /**
   * With `required`, nothing is changed that can't be undone; with `on`, a failure is reported and the work continues.
   */
  mode: z.enum(["on", "off", "required"]).default("on"),
  /** Larger files are not saved; a checkpoint lists them. */
  max_file_bytes: bytes.default(50 * MEBIBYTE),
  /** A workspace with more files can't have checkpoints. */
  max_files: count.default(100_000),
  max_bytes: bytes.default(2048 * MEBIBYTE),
  /** Files that are not saved, in `.gitignore` syntax. */
  exclude: z.array(text).default(["node_modules/"]),
});

const sandbox = z.strictObject({
  /** `required` refuses to start without a sandbox; `preferred` starts without it and says so. */
  mode: z.enum(["off", "preferred", "required"]).default("off"),
  /** Commands in the sandbox need no permission. */
  auto_allow_sandboxed: z.boolean().default(false),
  network: z
    .strictObject({
      /** Domains that commands and WebFetch may reach, such as `example.com` or `*.example.com` (default: none). */
      allow: texts,
    })
    .prefault({}),
  deny_read: paths,
  /** Exceptions within `deny_read`. */
  allow_read: paths,
  /** Exceptions within `allow_write`. */
  deny_write: paths,
  /** Writable in addition to the workspace. */
  allow_write: paths,
  /** Variables of the session to hide from commands. */
  hide_variables: z.array(variableName).default([]),
  /** Programs that run outside the sandbox; they need permission as usual. */
  excluded_commands: texts,
  /** Sockets that commands may connect to. Not supported on Linux, which can't distinguish sockets. */
  unix_sockets: paths,
});

/** For all processes of a session together. */
const limits = z.strictObject({
  memory_bytes: bytes.optional(),
  processes: count.optional(),
  cpu_seconds: z.number().positive().optional(),
});

export const environmentDefinition = z.strictObject({
  workspace: workspace.prefault({ kind: "in-place" }),
  checkpoints: checkpoints.prefault({}),
  sandbox: sandbox.prefault({}),
  limits: limits.prefault({}),
  /** Variables for the agent's commands; those that a program passes with the session take precedence. */
  variables: z.record(variableName, z.string()).default({}),
});

export type EnvironmentDefinition = z.infer<typeof environmentDefinition>;
export type EnvironmentInput = z.input<typeof environmentDefinition>;
export type WorkspaceSettings = EnvironmentDefinition["workspace"];
export type WorkspaceKind = WorkspaceSettings["kind"];
export type Mount = z.infer<typeof mount>;
export type CheckpointSettings = EnvironmentDefinition["checkpoints"];
export type SandboxSettings = EnvironmentDefinition["sandbox"];
export type ProcessLimits = EnvironmentDefinition["limits"];

/** Validates user input. The error names every wrong field and what is expected there. */
export function parseEnvironment(input: unknown): EnvironmentDefinition {
  const parsed = environmentDefinition.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${["environment", ...issue.path].join(".")}: ${issue.message}`);
  throw new CapstanError("invalid_agent", `The environment is not valid. ${problems.join("; ")}`, {
    data: { problems },
  });
}
