import { spawn } from "node:child_process";
import { findProgram } from "./programs.ts";

/**
 * Starts a program so that it and everything it started die with the host and with the session, also on kill -9 of
 * either: `setpriv` ties it to the host's life, a PID namespace ties its children to its own.
 */
const TIED = ["--pdeathsig", "KILL", "--"];
const UNSHARE = ["--fork", "--pid", "--kill-child", "--mount-proc"];
/** Without privileges the same needs a user namespace. */
const IN_USER_NAMESPACE = ["--user", "--map-current-user"];

/**
 * What root keeps in there. The rest leads out: who may mount takes the namespace's `/proc` away and finds the host's
 * below it, and who may trace, load modules, make devices or watch the kernel needs no `/proc` for that. Named are those that
 * stay, so that a capability which is new to the kernel is not among them.
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

/** The first wrapper that works on this machine; undefined where there is none (not Linux, or forbidden). */
export async function findContainment(): Promise<readonly string[] | undefined> {
  const [setpriv, unshare, probe] = ["setpriv", "unshare", "true"].map((name) => findProgram(name));
  if (setpriv === undefined || unshare === undefined || probe === undefined) return undefined;
  const limited = [setpriv, ...LIMITED];
  // Who is not root has no capabilities in there, and may not even give them up.
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
