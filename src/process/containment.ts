import { spawn } from "node:child_process";
import { findProgram } from "./programs.ts";

/**
 * Starts a program so that it and everything it started die with the host and with the session, also on kill -9 of
 * either: `setpriv` ties it to the host's life, a PID namespace ties its children to its own.
 */
const SETPRIV = ["--pdeathsig", "KILL", "--"];
const UNSHARE = ["--fork", "--pid", "--kill-child", "--mount-proc"];
/** Without privileges the same needs a user namespace. */
const FORMS: readonly (readonly string[])[] = [
  [...UNSHARE, "--"],
  [...UNSHARE, "--user", "--map-current-user", "--"],
];

/** The first wrapper that works on this machine; undefined where there is none (not Linux, or forbidden). */
export async function findContainment(): Promise<readonly string[] | undefined> {
  const [setpriv, unshare, probe] = ["setpriv", "unshare", "true"].map((name) => findProgram(name));
  if (setpriv === undefined || unshare === undefined || probe === undefined) return undefined;
  for (const form of FORMS) {
    const wrapper = [setpriv, ...SETPRIV, unshare, ...form];
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
