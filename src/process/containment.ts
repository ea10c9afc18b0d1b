import { spawn } from "node:child_process";
import { findProgram } from "./programs.ts";

/**
 * Starts a program so that it and everything it started end with the host and with the session, even on kill -9 of
 * either: `setpriv` ties it to the host, a PID namespace ties its children to it.
 */
const TIED = ["--pdeathsig", "KILL", "--"];
const UNSHARE = ["--fork", "--pid", "--kill-child", "--mount-proc"];
/** Without privileges, this needs a user namespace. */
const IN_USER_NAMESPACE = ["--user", "--map-current-user"];

/**
 * The capabilities that root keeps in there. All others are ways out: mounting can replace the namespace's `/proc` and
 * reveal the host's below it, and tracing, loading modules, creating devices or watching the kernel don't even need
 * `/proc`. This is an allow list, so that new capabilities are not included.
 */
const KEPT = [
  ["chown", "dac_override", "fowner", "fsetid", "linux_immutable", "lease"],
  ["setuid", "setgid", "setpcap", "setfcap", "sys_chroot", "audit_write"],
  ["kill", "ipc_lock", "ipc_owner", "sys_nice", "sys_resource"],
  ["net_bind_service", "net_broadcast", "net_admin", "net_raw"],
].flat();
const LIMITED = [
  "--inh-caps=-all",
  "--ambient-caps=-all",
  `--bounding-set=${["-all", ...KEPT.map((name) => `+${name}`)].join(",")}`,
  "--",
];

/** The first wrapper that works on this machine; undefined if there is none (not Linux, or forbidden). */
export async function findContainment(): Promise<readonly string[] | undefined> {
  const [setpriv, unshare, probe] = ["setpriv", "unshare", "true"].map((name) => findProgram(name));
  if (setpriv === undefined || unshare === undefined || probe === undefined) return undefined;
  const limited = [setpriv, ...LIMITED];
  // Users other than root have no capabilities in there, and can't even drop them.
  const inUserNamespace = process.getuid?.() === 0 ? limited : [];
  for (const form of [
    [...UNSHARE, "--", ...limited],
    [...UNSHARE, ...IN_USER_NAMESPACE, "--", ...inUserNamespace],
  ]) {
    const wrapper = [setpriv, ...TIED, unshare, ...form];
    if (await works([...wrapper, probe])) return wrapper;
  }
  return undefined;
}

function works([command = "", ...args]: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = spawn(command, args, { env: {}, stdio: "ignore" });
    probe.on("error", () => resolve(false));
    probe.on("exit", (code) => resolve(code === 0));
  });
}
