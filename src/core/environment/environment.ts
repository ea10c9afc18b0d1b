import { z } from "zod";
import { CapstanError } from "../errors.ts";

/**
 * Where a session may work: its workspace, how its files are kept, and what its commands are kept from. Unknown keys are
 * errors, and every field has a consumer.
 */

const MEBIBYTE = 1_048_576;

const count = z.int().positive();
const bytes = count;
const text = z.string().min(1);
const texts = z.array(text).default([]);
/** Absolute, from `~`, or relative to the directory the session was started in. */
const path = text;
const paths = texts;
const variableName = z.string().regex(/^[A-Za-z_]\w*$/, "a name of a variable");

const mount = z.strictObject({
  /** A file or directory of the host. */
  source: path,
  /** Where it stands in the workspace, relative. Default: the last name of the source; `.` for the workspace itself. */
  target: text.optional(),
  /** Only files that match one of these. Default: all. */
  include: texts,
  /** Of those, none that match; a pattern with `!` takes back what an earlier one excluded. */
  exclude: texts,
  /** Leave out what `.gitignore` files in the mount leave out. */
  gitignore: z.boolean().default(false),
  max_bytes: bytes.optional(),
  max_files: count.optional(),
  /** `follow` takes over what a link leads to, when that lies in the mount. */
  symlinks: z.enum(["skip", "follow"]).default("skip"),
  /** The agent may not change it, and nothing of it is ever applied back. */
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
    /** None: the workspace starts empty. */
    mounts: z.array(mount),
    /** For all mounts together. */
    max_bytes: bytes.default(1024 * MEBIBYTE),
    max_files: count.default(100_000),
  }),
  z.strictObject({
    kind: z.literal("worktree"),
    /** What the branch starts from. Default: the commit that is checked out. */
    base: text.optional(),
    /** Default: `capstan/` and the session's id. */
    branch: text.optional(),
  }),
  z.strictObject({
    kind: z.literal("clone"),
    /** The address or the path of a repository. Default: the one that the session is started in. */
    from: text.optional(),
    /** A branch, a tag or a commit. Default: what the repository has checked out. */
    ref: text.optional(),
    /** How many commits of history. Default: all. */
    depth: count.optional(),
  }),
]);

const checkpoints = z.strictObject({
  /** With `required` nothing is changed that cannot be brought back; with `on` a failure is told and the work goes on. */
  mode: z.enum(["on", "off", "required"]).default("on"),
  /** Larger files are not kept; a checkpoint names them. */
  max_file_bytes: bytes.default(50 * MEBIBYTE),
  /** A workspace with more cannot have checkpoints. */
  max_files: count.default(100_000),
  max_bytes: bytes.default(2048 * MEBIBYTE),
  /** Not kept, in the syntax of `.gitignore`. */
  exclude: z.array(text).default(["node_modules/"]),
});

const sandbox = z.strictObject({
  /** `required` refuses to start where there is none; `preferred` starts without it and says so. */
  mode: z.enum(["off", "preferred", "required"]).default("off"),
  /** Commands that run in the sandbox need no other permission. */
  auto_allow_sandboxed: z.boolean().default(false),
  network: z
    .strictObject({
      /** Domains that commands and WebFetch may reach, such as `example.com` or `*.example.com`. Default: none. */
      allow: texts,
    })
    .prefault({}),
  deny_read: paths,
  /** Exceptions within `deny_read`. */
  allow_read: paths,
  /** Exceptions within what may be written. */
  deny_write: paths,
  /** May be written besides the workspace. */
  allow_write: paths,
  /** Variables of the session that commands do not see. */
  hide_variables: z.array(variableName).default([]),
  /** Programs that run outside the sandbox; they need permission as without one. */
  excluded_commands: texts,
  /** Sockets that commands may connect to. Linux cannot tell them apart, and refuses any here. */
  unix_sockets: paths,
});

/** Of all processes of a session together. */
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
  /** What the agent's commands see; those that a program gives with the session come before them. */
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

/** Checks what a user wrote; the error names every wrong field and what was expected there. */
export function parseEnvironment(input: unknown): EnvironmentDefinition {
  const parsed = environmentDefinition.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${["environment", ...issue.path].join(".")}: ${issue.message}`);
  throw new CapstanError("invalid_agent", `The environment is not valid. ${problems.join("; ")}`, {
    data: { problems },
  });
}
