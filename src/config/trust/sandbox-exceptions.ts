import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { SandboxSettings } from "../../core/environment/environment.ts";
import { absolutePath, isHidden, isWritable, sandboxPlan } from "../../core/environment/sandbox.ts";
import { isSecretName } from "../../core/environment/secret-files.ts";
import type { SettingDirectories, SandboxLayer } from "./no-widening.ts";

/** The exceptions that are not in anything closed below, neither by name nor with links resolved. */
export function exceptions(
  { allow_read: read, allow_write: write }: SandboxLayer,
  below: SandboxSettings,
  { cwd, ...places }: SettingDirectories,
): Pick<SandboxLayer, "allow_read" | "allow_write"> {
  const plan = sandboxPlan(
    // As if it were on, because a flag may turn it on; domains are checked when a session starts.
    { ...below, mode: "required", network: { allow: [] } },
    { ...places, cwd, source: cwd, stateDir: cwd, readOnlyMounts: [], variables: {}, real: realPathOf },
  );
  const namesOf = (path: string): string[] => {
    const named = absolutePath(path, { source: cwd, home: places.home });
    return [named, realPathOf(named)];
  };
  const readable = (path: string): boolean =>
    namesOf(path).every((name) => !isHidden(name, plan) && !isSecretName(name));
  const writable = (path: string): boolean =>
    readable(path) && namesOf(path).every((name) => isWritable(name, { ...plan, allowWrite: [name] }));
  return { allow_read: read && keepOpen(read, readable), allow_write: write && keepOpen(write, writable) };
}

/** A list without remaining entries is omitted; one that was empty removes the exceptions below. */
function keepOpen(paths: readonly string[], isOpen: (path: string) => boolean): string[] | undefined {
  const open = paths.filter(isOpen);
  return open.length === 0 && paths.length > 0 ? undefined : open;
}

/** The kernel's limit. */
const MAX_LINKS = 40;

/** For a missing file, where its directory leads; a link to a missing file still leads there. */
function realPathOf(path: string, links = MAX_LINKS): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    const target = links === 0 ? undefined : linkAt(path);
    if (target !== undefined) return realPathOf(resolve(parent, target), links - 1);
    return parent === path ? path : join(realPathOf(parent, links), basename(path));
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
