import { realpathSync, statSync } from "node:fs";
import { isHidden, isWritable, type SandboxPlan } from "../../core/sandbox.ts";
import { COVER_SYSCTL } from "./sandbox-root.ts";

/** Sockets of the machine's services, such as the one of Docker: whoever may speak to them is not confined. */
const SERVICES = "/run";
const ROOT = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", ...COVER_SYSCTL, "--tmpfs", SERVICES];

/**
 * How a server is started in a sandbox of its own: it may read and write what the commands of its session may, and has
 * no network. Nobody could look at which domains it asks for, so a list of those gives it none.
 */
export function confinedCommand(
  plan: SandboxPlan,
  { confine, ownDirectory }: { readonly confine: readonly string[]; readonly ownDirectory: string },
): string[] {
  const places: Places = {
    denyRead: plan.denyRead.flatMap(real),
    allowRead: [...plan.allowRead, ownDirectory].flatMap(real),
    denyWrite: plan.denyWrite.flatMap(real),
    allowWrite: [...plan.allowWrite, ownDirectory].flatMap(real),
  };
  return [...confine, "--unshare-net", ...ROOT, ...mounts(places), "--chdir", plan.workspace, "--"];
}

type Places = Pick<SandboxPlan, "denyRead" | "allowRead" | "denyWrite" | "allowWrite">;

/** From the root downwards: what lies deeper is mounted over what it lies in. */
function mounts(places: Places): string[] {
  return [...new Set(Object.values(places).flat())]
    .toSorted((a, b) => a.length - b.length)
    .flatMap((path) => {
      if (isHidden(path, places)) return isDirectory(path) ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
      return [isWritable(path, places) ? "--bind" : "--ro-bind", path, path];
    });
}

/** What is not there needs no place, and a link none beside that of what it leads to. */
function real(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

function isDirectory(path: string): boolean {
  return statSync(path).isDirectory();
}
