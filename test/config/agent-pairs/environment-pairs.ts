import { type Pair, pair } from "./pair.ts";

const copy = (field: string): string => `environment: { workspace: { kind: copy, ${field} } }`;
const mount = (field: string): string => copy(`mounts: [{ source: files${field === "" ? "" : `, ${field}`} }]`);
const repository = (kind: string, field: string): string =>
  `environment: { workspace: { kind: ${kind}${field === "" ? "" : `, ${field}`} } }`;
const sandbox = (field: string): string => `environment: { sandbox: { mode: preferred, ${field} } }`;
const checkpoints = (field: string): Pair =>
  pair(
    ["environment: { checkpoints: { mode: on } }", `environment: { checkpoints: { mode: on, ${field} } }`],
    "definition",
  );
const limits = (name: string): Pair =>
  pair([`environment: { limits: { ${name}: 9000 } }`, `environment: { limits: { ${name}: 1 } }`], "process limit");

/** The workspace, its checkpoints and its sandbox; what reads checkpoints is told by environment-consumers.test.ts. */
export const ENVIRONMENT_PAIRS: Readonly<Record<string, Pair>> = {
  "environment.workspace.kind": pair([repository("in-place", ""), repository("worktree", "")], "workspace"),
  "environment.workspace.when_busy": pair(
    [repository("in-place", "when_busy: wait"), repository("in-place", "when_busy: refuse")],
    "definition",
  ),
  "environment.workspace.mounts.*.source": pair([mount(""), copy("mounts: [{ source: more }]")], "workspace"),
  "environment.workspace.mounts.*.target": pair([mount("target: a"), mount("target: b")], "workspace"),
  "environment.workspace.mounts.*.include.*": pair([mount(""), mount('include: ["*.md"]')], "workspace"),
  "environment.workspace.mounts.*.exclude.*": pair([mount(""), mount('exclude: ["*.md"]')], "workspace"),
  "environment.workspace.mounts.*.gitignore": pair([mount(""), mount("gitignore: true")], "workspace"),
  "environment.workspace.mounts.*.max_bytes": pair([mount(""), mount("max_bytes: 1")], "workspace"),
  "environment.workspace.mounts.*.max_files": pair([mount(""), mount("max_files: 1")], "workspace"),
  "environment.workspace.mounts.*.symlinks": pair([mount("symlinks: skip"), mount("symlinks: follow")], "workspace"),
  "environment.workspace.mounts.*.read_only": pair([mount(""), mount("read_only: true")], "workspace"),
  "environment.workspace.max_bytes": pair([mount(""), copy("mounts: [{ source: files }], max_bytes: 1")], "workspace"),
  "environment.workspace.max_files": pair([mount(""), copy("mounts: [{ source: files }], max_files: 1")], "workspace"),
  "environment.workspace.base": pair(
    [repository("worktree", "base: v1"), repository("worktree", "base: v2")],
    "workspace",
  ),
  "environment.workspace.branch": pair(
    [repository("worktree", ""), repository("worktree", "branch: work")],
    "workspace",
  ),
  "environment.workspace.from": pair([repository("clone", ""), repository("clone", "from: ./nowhere")], "workspace"),
  "environment.workspace.ref": pair([repository("clone", "ref: v1"), repository("clone", "ref: v2")], "workspace"),
  "environment.workspace.depth": pair(
    [repository("clone", "ref: v2"), repository("clone", "ref: v2, depth: 1")],
    "definition",
  ),
  "environment.checkpoints.mode": pair(
    ["environment: { checkpoints: { mode: on } }", "environment: { checkpoints: { mode: required } }"],
    "definition",
  ),
  "environment.checkpoints.max_file_bytes": checkpoints("max_file_bytes: 1"),
  "environment.checkpoints.max_files": checkpoints("max_files: 1"),
  "environment.checkpoints.max_bytes": checkpoints("max_bytes: 1"),
  "environment.checkpoints.exclude.*": checkpoints("exclude: [dist/]"),
  "environment.sandbox.mode": pair(
    ["environment: { sandbox: { mode: off } }", "environment: { sandbox: { mode: preferred } }"],
    "sdk options",
  ),
  "environment.sandbox.auto_allow_sandboxed": pair(
    [sandbox("auto_allow_sandboxed: false"), sandbox("auto_allow_sandboxed: true")],
    "decision",
    { both: "tools: [Bash]", asked: "Bash(make all)" },
  ),
  "environment.sandbox.deny_read.*": pair(
    [sandbox("deny_read: [/srv/a]"), sandbox("deny_read: [/srv/b]")],
    "sdk options",
  ),
  "environment.sandbox.allow_read.*": pair(
    [sandbox("allow_read: [/srv/a]"), sandbox("allow_read: [/srv/b]")],
    "sdk options",
  ),
  "environment.sandbox.deny_write.*": pair(
    [sandbox("deny_write: [/srv/a]"), sandbox("deny_write: [/srv/b]")],
    "sdk options",
  ),
  "environment.sandbox.allow_write.*": pair(
    [sandbox("allow_write: [/srv/a]"), sandbox("allow_write: [/srv/b]")],
    "sdk options",
  ),
  "environment.sandbox.hide_variables.*": pair(
    [sandbox("hide_variables: [A]"), sandbox("hide_variables: [B]")],
    "sdk options",
  ),
  "environment.sandbox.excluded_commands.*": pair(
    [sandbox("excluded_commands: [docker]"), sandbox("excluded_commands: [podman]")],
    "sdk options",
  ),
  "environment.sandbox.unix_sockets.*": pair(
    [sandbox("unix_sockets: [/run/a]"), sandbox("unix_sockets: [/run/b]")],
    "sdk options",
  ),
  "environment.sandbox.network.allow.*": pair(
    [sandbox("network: { allow: [a.example] }"), sandbox("network: { allow: [b.example] }")],
    "sdk options",
  ),
  "environment.limits.memory_bytes": limits("memory_bytes"),
  "environment.limits.processes": limits("processes"),
  "environment.limits.cpu_seconds": limits("cpu_seconds"),
  "environment.variables.*": pair(
    ["environment: { variables: { COLOUR: red } }", "environment: { variables: { COLOUR: blue } }"],
    "environment",
  ),
};
