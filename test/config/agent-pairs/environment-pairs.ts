import { type Pair, pair } from "./pair.ts";

const copy = (field: string): string => `environment: { workspace: { kind: copy, ${field} } }`;
const mount = (field: string): string => copy(`mounts: [{ source: files${field === "" ? "" : `, ${field}`} }]`);
const mounted = (field: string): Pair => pair([mount(""), mount(field)], "workspace");
const repository = (kind: string, field: string): string =>
  `environment: { workspace: { kind: ${kind}${field === "" ? "" : `, ${field}`} } }`;
const sandbox = (field: string): string => `environment: { sandbox: { mode: preferred, ${field} } }`;
const sandboxed = (list: string, values: readonly [string, string]): Pair =>
  pair([sandbox(`${list}: [${values[0]}]`), sandbox(`${list}: [${values[1]}]`)], "sdk options");
const checkpoints = (field: string): Pair => pair(["", `environment: { checkpoints: { ${field} } }`], "checkpoint");
const limits = (name: string): Pair =>
  pair([`environment: { limits: { ${name}: 9000 } }`, `environment: { limits: { ${name}: 1 } }`], "process limit");

/** The workspace, its checkpoints and its sandbox. */
export const ENVIRONMENT_PAIRS: Readonly<Record<string, Pair>> = {
  "environment.workspace.kind": pair([repository("in-place", ""), repository("worktree", "")], "workspace"),
  "environment.workspace[in-place].when_busy": pair(
    [repository("in-place", "when_busy: wait"), repository("in-place", "when_busy: refuse")],
    "busy",
  ),
  "environment.workspace[copy].mounts.*.source": pair([mount(""), copy("mounts: [{ source: more }]")], "workspace"),
  "environment.workspace[copy].mounts.*.target": pair([mount("target: a"), mount("target: b")], "workspace"),
  "environment.workspace[copy].mounts.*.include.*": mounted('include: ["*.md"]'),
  "environment.workspace[copy].mounts.*.exclude.*": mounted('exclude: ["*.md"]'),
  "environment.workspace[copy].mounts.*.gitignore": mounted("gitignore: true"),
  "environment.workspace[copy].mounts.*.max_bytes": mounted("max_bytes: 1"),
  "environment.workspace[copy].mounts.*.max_files": mounted("max_files: 1"),
  "environment.workspace[copy].mounts.*.symlinks": mounted("symlinks: follow"),
  "environment.workspace[copy].mounts.*.read_only": mounted("read_only: true"),
  "environment.workspace[copy].max_bytes": pair(
    [mount(""), copy("mounts: [{ source: files }], max_bytes: 1")],
    "workspace",
  ),
  "environment.workspace[copy].max_files": pair(
    [mount(""), copy("mounts: [{ source: files }], max_files: 1")],
    "workspace",
  ),
  "environment.workspace[worktree].base": pair(
    [repository("worktree", "base: v1"), repository("worktree", "base: v2")],
    "workspace",
  ),
  "environment.workspace[worktree].branch": pair(
    [repository("worktree", ""), repository("worktree", "branch: work")],
    "workspace",
  ),
  "environment.workspace[clone].from": pair(
    [repository("clone", ""), repository("clone", "from: ./nowhere")],
    "workspace",
  ),
  "environment.workspace[clone].ref": pair(
    [repository("clone", "ref: v1"), repository("clone", "ref: v2")],
    "workspace",
  ),
  "environment.workspace[clone].depth": pair(
    [repository("clone", "ref: v2"), repository("clone", "ref: v2, depth: 1")],
    "workspace",
  ),
  "environment.checkpoints.mode": pair(["", "environment: { checkpoints: { mode: off } }"], "checkpoints", {
    both: "tools: [Bash]\npermissions: { allow: [Bash(make all)] }",
    asked: "Bash(make all)",
  }),
  "environment.checkpoints.max_file_bytes": checkpoints("max_file_bytes: 1"),
  "environment.checkpoints.max_files": checkpoints("max_files: 1"),
  "environment.checkpoints.max_bytes": checkpoints("max_bytes: 1"),
  "environment.checkpoints.exclude.*": checkpoints('exclude: ["*.md"]'),
  "environment.sandbox.mode": pair(
    ["environment: { sandbox: { mode: off } }", "environment: { sandbox: { mode: preferred } }"],
    "sdk options",
  ),
  "environment.sandbox.auto_allow_sandboxed": pair(
    [sandbox("auto_allow_sandboxed: false"), sandbox("auto_allow_sandboxed: true")],
    "explained decision",
    { both: "tools: [Bash]", asked: "Bash(make all)" },
  ),
  "environment.sandbox.deny_read.*": sandboxed("deny_read", ["/srv/a", "/srv/b"]),
  "environment.sandbox.allow_read.*": sandboxed("allow_read", ["/srv/a", "/srv/b"]),
  "environment.sandbox.deny_write.*": sandboxed("deny_write", ["/srv/a", "/srv/b"]),
  "environment.sandbox.allow_write.*": sandboxed("allow_write", ["/srv/a", "/srv/b"]),
  "environment.sandbox.hide_variables.*": sandboxed("hide_variables", ["A", "B"]),
  "environment.sandbox.excluded_commands.*": sandboxed("excluded_commands", ["docker", "podman"]),
  "environment.sandbox.unix_sockets.*": sandboxed("unix_sockets", ["/run/a", "/run/b"]),
  "environment.sandbox.network.allow.*": pair(
    [sandbox("network: { allow: [a.example] }"), sandbox("network: { allow: [b.example] }")],
    "sdk options",
  ),
  "environment.limits.memory_bytes": limits("memory_bytes"),
  "environment.limits.processes": limits("processes"),
  "environment.limits.cpu_seconds": limits("cpu_seconds"),
  "environment.variables.*": pair(
    ["environment: { variables: { COLOUR: red } }", "environment: { variables: { COLOUR: blue } }"],
    "command variables",
  ),
};
