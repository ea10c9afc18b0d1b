import { tmpdir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { type SandboxPlan, sandboxPlan } from "../core/sandbox.ts";
import type { SessionRecord } from "../core/store.ts";
import type { PreparedMount } from "../core/workspace.ts";
import { realPath } from "./real-path.ts";
import type { SessionParts } from "./session-deps.ts";

interface Surroundings extends Pick<SessionParts, "home" | "capstanHome" | "stateDir" | "variables" | "secretFiles"> {
  readonly record: Pick<SessionRecord, "cwd" | "source" | "environment">;
}

/** What a session is kept from, as its environment says. `mounts` are known when its workspace is made. */
export function sandboxOf(
  { record, home, capstanHome, stateDir, variables, secretFiles }: Surroundings,
  mounts: readonly Pick<PreparedMount, "target" | "readOnly">[] = [],
): SandboxPlan {
  const { cwd, source, environment } = record;
  return sandboxPlan(environment.sandbox, {
    cwd,
    // A clone may come from an address, to which nothing is relative.
    source: isAbsolute(source) ? source : cwd,
    home,
    capstanHome,
    stateDir,
    secretFiles,
    temporary: tmpdir(),
    readOnlyMounts: mounts.filter(({ readOnly }) => readOnly).map(({ target }) => resolve(cwd, target)),
    variables,
    real: realPath,
  });
}

export function sessionSandbox(parts: Surroundings & Pick<SessionParts, "log">): SandboxPlan {
  return sandboxOf(parts, parts.log.state.files.workspace?.mounts);
}
