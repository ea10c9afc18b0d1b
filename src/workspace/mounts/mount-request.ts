import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, posix } from "node:path";
import type { Mount } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import { type GlobList, globList } from "./glob-list.ts";
import { absolute, guardReason, type HostDirectories, isAllowed, realDirectory } from "../host-paths.ts";

/** A validated mount with its source resolved and its patterns parsed. */
export interface MountRequest {
  /** Its name in messages. */
  readonly name: string;
  /** The path of its fields in the environment. */
  readonly field: string;
  /** Absolute, links resolved. */
  readonly source: string;
  readonly kind: "file" | "directory";
  /** Relative to the workspace; `.` for the workspace itself. */
  readonly target: string;
  readonly include: GlobList;
  readonly exclude: GlobList;
  readonly settings: Mount;
}

/** Throws `workspace_invalid` for what must not be mounted. Reads only the sources themselves. */
export async function mountRequests(
  mounts: readonly Mount[],
  source: string,
  places: HostDirectories,
): Promise<readonly MountRequest[]> {
  return Promise.all(mounts.map((mount, index) => mountRequest(mount, index, { source, places })));
}

async function mountRequest(
  settings: Mount,
  index: number,
  { source, places }: { source: string; places: HostDirectories },
): Promise<MountRequest> {
  const field = `environment.workspace.mounts[${index}]`;
  const written = absolute(settings.source, source, places.home);
  const real = await realDirectory(written);
  const name = `Mount ${index + 1} (${real})`;
  const refuse = (why: string): CapstanError =>
    new CapstanError("workspace_invalid", `${name} is refused: ${why}`, { data: { field, source: real } });

  const reason = await guardReason(real, places);
  if (reason !== undefined)
    throw refuse(`${reason}. Mount a directory inside it that contains only what the agent needs.`);
  if (!(await isAllowed(real, source, places)))
    throw refuse(`it is neither in ${source} nor in an allowed root. Add its directory to the allowed mount roots.`);
  const kind = kindOf(await lookAt(real, refuse));
  if (kind === undefined)
    throw refuse("it is a socket, a pipe or a device. Only files and directories can be mounted.");
  const target = targetOf(settings.target ?? basename(written), refuse);
  if (target === "." && kind === "file") throw refuse(`a file cannot be the workspace itself. Set ${field}.target.`);
  const taking = settings.include.find((pattern) => pattern.startsWith("!") && !pattern.startsWith("!("));
  if (taking !== undefined)
    throw refuse(`${field}.include cannot contain ${JSON.stringify(taking)}. Write it in exclude, without the "!".`);
  return {
    name,
    field,
    source: real,
    kind,
    target,
    include: globList(settings.include, `${field}.include`),
    exclude: globList(settings.exclude, `${field}.exclude`),
    settings,
  };
}

async function lookAt(path: string, refuse: (why: string) => CapstanError): Promise<Stats> {
  try {
    return await stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refuse(
      code === "ENOENT" || code === "ENOTDIR"
        ? "it does not exist. Correct the path, or create it."
        : `it cannot be read (${code ?? "unknown"}). Correct the path or its permissions.`,
    );
  }
}

function kindOf(found: Stats): "file" | "directory" | undefined {
  if (found.isDirectory()) return "directory";
  return found.isFile() ? "file" : undefined;
}

function targetOf(written: string, refuse: (why: string) => CapstanError): string {
  const target = posix.normalize(written).replace(/(?<=.)\/$/, "");
  if (target.includes("\0") || posix.isAbsolute(target) || target === ".." || target.startsWith("../"))
    throw refuse(`its target ${JSON.stringify(written)} is outside the workspace. Use a relative path inside it.`);
  return target;
}
