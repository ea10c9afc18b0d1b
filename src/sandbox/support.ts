import { spawnSync } from "node:child_process";
import type { EngineRequest, EngineSession } from "../core/ports/engine.ts";
import { CapstanError } from "../core/errors.ts";
import { belongsInSandbox } from "../core/agent/mcp-server-schema.ts";
import type { SandboxPlan } from "../core/environment/sandbox.ts";
import { findProgram, safePath } from "../process/programs.ts";

/** This machine's support for confining commands. */
export interface SandboxSupport {
  /** Why it can't, and what to do about it. Absent: it can. */
  readonly missing?: string;
  /** The sandbox program with its fixed arguments. Absent if the system itself confines. */
  readonly confine?: readonly string[];
}

const INSTALL = "On Debian and Ubuntu: apt-get install bubblewrap socat. On Fedora: dnf install bubblewrap socat.";
/** Its own namespaces for everything, no privileges in them, and no way to create others. */
const CONFINE = ["--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc"];
const WITHOUT_RIGHTS = ["--cap-drop", "ALL"];
/** Earlier versions of bubblewrap do not support the second one. */
const FORMS = [
  [...CONFINE, "--disable-userns", ...WITHOUT_RIGHTS],
  [...CONFINE, ...WITHOUT_RIGHTS],
];
const PROBE = ["--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--", "true"];

/** Searches the agents' search path; a success is cached. */
export function sandboxFinder(path: string): () => SandboxSupport {
  let found: SandboxSupport | undefined;
  return () => {
    if (found?.missing !== undefined) found = undefined;
    return (found ??= findSandbox(path));
  };
}

/** The same answer for all decisions about one process: a sandbox may be installed in between. */
export function answeredOnce(support: () => SandboxSupport): () => SandboxSupport {
  let answer: SandboxSupport | undefined;
  return () => (answer ??= support());
}

function findSandbox(path: string): SandboxSupport {
  // Part of the system; the CLI uses it directly.
  if (process.platform === "darwin") return {};
  if (process.platform !== "linux") return { missing: `There is no sandbox for ${process.platform}.` };
  const programs = ["bwrap", "socat"].map((name) => [name, findProgram(name, { path })] as const);
  const absent = programs.flatMap(([name, file]) => (file === undefined ? [name] : []));
  if (absent.length > 0) {
    const names = absent.map((name) => (name === "bwrap" ? "bubblewrap (bwrap)" : name)).join(" and ");
    return { missing: `${names} ${absent.length === 1 ? "is" : "are"} not installed. ${INSTALL}` };
  }
  const bwrap = programs[0]?.[1] ?? "bwrap";
  let said = "";
  for (const form of FORMS) {
    const { status, stderr, error } = spawnSync(bwrap, [...form, ...PROBE], {
      env: { PATH: safePath(path) },
      encoding: "utf8",
    });
    if (status === 0) return { confine: [bwrap, ...form] };
    said = error?.message ?? stderr.trim();
  }
  return {
    missing: `bubblewrap is installed, but cannot create namespaces here (${said}). Allow unprivileged user namespaces, or run the host where they are allowed.`,
  };
}

/** Throws if the session can't run here as its environment requires. */
export function requireSandbox(
  { sandbox, limits, agent }: Pick<EngineRequest, "agent"> & Partial<Pick<EngineRequest, "sandbox" | "limits">>,
  support: () => SandboxSupport,
): void {
  if (limits !== undefined && Object.keys(limits).length > 0 && process.platform !== "linux")
    throw new CapstanError(
      "unsupported",
      `environment.limits: processes can only be counted on Linux, but this is ${process.platform}. Remove ${Object.keys(limits).join(", ")}.`,
    );
  if (sandbox === undefined || sandbox.mode === "off") return;
  if (sandbox.unixSockets.length > 0 && process.platform === "linux")
    throw new CapstanError(
      "unsupported",
      `environment.sandbox.unix_sockets: Linux cannot distinguish sockets, so none can be allowed (${sandbox.unixSockets.join(", ")}). Exclude the command that needs it, or remove this setting.`,
    );
  const { missing } = support();
  if (sandbox.mode === "required" && missing !== undefined)
    throw new CapstanError(
      "sandbox_missing",
      `This session requires a sandbox, but none is available here. ${missing}`,
      { data: { missing } },
    );
  if (process.platform === "linux" || missing !== undefined) return;
  const inside = Object.entries(agent.mcp_servers ?? {}).flatMap(([name, server]) =>
    belongsInSandbox(server) ? [name] : [],
  );
  if (inside.length > 0)
    throw new CapstanError(
      "unsupported",
      `mcp_servers.${inside.join(", ")}: a server can run in the sandbox only on Linux. Set outside_sandbox: true to run it outside.`,
    );
}

/** The sandbox of servers, and the program that creates it. */
export interface Confinement {
  readonly plan: SandboxPlan;
  readonly confine: readonly string[];
}

export function confinementOf(
  { sandbox }: Pick<EngineRequest, "sandbox">,
  support: () => SandboxSupport,
): Confinement | undefined {
  if (!isConfined(sandbox, support)) return undefined;
  const { confine } = support();
  return confine && { plan: sandbox, confine };
}

/** What is reported about a process's sandbox. */
export function toldOfSandbox(
  { sandbox, agent }: Pick<EngineRequest, "sandbox" | "agent">,
  support: () => SandboxSupport,
): Required<Pick<EngineSession, "sandbox" | "outside">> & Pick<EngineSession, "sandboxMissing"> {
  if (sandbox === undefined || sandbox.mode === "off") return { sandbox: "off", outside: [] };
  const { missing } = support();
  if (missing !== undefined) return { sandbox: "unavailable", sandboxMissing: missing, outside: [] };
  const servers = Object.entries(agent.mcp_servers ?? {}).filter(([, server]) => !belongsInSandbox(server));
  const commands = sandbox.excludedCommands.map((pattern) => `Bash(${pattern})`);
  return { sandbox: "on", outside: [...servers.map(([name]) => `mcp__${name}`), ...commands] };
}

/** Whether this session's commands are confined. */
export function isConfined(sandbox: SandboxPlan | undefined, support: () => SandboxSupport): sandbox is SandboxPlan {
  return sandbox !== undefined && sandbox.mode !== "off" && support().missing === undefined;
}
