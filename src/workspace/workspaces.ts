import { mkdir, readdir, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { CheckpointSettings } from "../core/environment/environment.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type {
  PreparedWorkspace,
  PrepareOptions,
  WorkLimits,
  Workspace,
  WorkspaceLocation,
  WorkspaceRequest,
  Workspaces,
} from "../core/ports/workspace.ts";
import { cloneRequest, makeClone } from "./kinds/clone-workspace.ts";
import { fillCopy } from "./kinds/copy-workspace.ts";
import { diskFailure, stopIfAborted } from "./disk-failure.ts";
import { diskSize } from "./disk-size.ts";
import { putContent } from "./given-content.ts";
import { guardReason, type HostDirectories } from "./host-paths.ts";
import { mountRequests } from "./mounts/mount-request.ts";
import { isNewer } from "./newer-files.ts";
import { removeTree } from "./remove-tree.ts";
import { addWorktree, removeWorktree, worktreeRequest } from "./kinds/worktree-workspace.ts";

/** Opens a session's checkpoints, which are in `directory`. */
export type OpenShadow = (
  place: WorkspaceLocation,
  options: {
    readonly directory: string;
    readonly settings: CheckpointSettings;
    readonly limits?: WorkLimits | undefined;
  },
) => Workspace;

export interface WorkspacesOptions extends HostDirectories {
  readonly openShadow: OpenShadow;
}

/** Creates a workspace in its session's directory. */
type Make = (directory: string, options: PrepareOptions) => Promise<PreparedWorkspace>;

/** The workspaces of a host. A session's data is in `<root>/<session id>`, its files in `files` there. */
export function createWorkspaces({ openShadow, ...places }: WorkspacesOptions): Workspaces {
  const directoryOf = (sessionId: string): string => join(places.root, checkedId(sessionId));
  return {
    async validate(request) {
      await checkRequest(request, places);
    },
    async prepare(request, options = {}) {
      const make = await checkRequest(request, places, options.signal);
      stopIfAborted(options.signal);
      if (request.workspace.kind === "in-place") return make("", options);
      const directory = directoryOf(request.sessionId);
      await makeDirectory(directory);
      try {
        return await make(directory, options);
      } catch (error) {
        await removeTree(directory);
        throw error;
      }
    },
    async put(place, content, { signal, hostAddresses } = {}) {
      if (place.kind === "in-place")
        throw new CapstanError(
          "workspace_invalid",
          "The session works in place, in a directory of the host. Put the file there yourself, or use another kind of workspace.",
        );
      const { sessionId, cwd: root } = place;
      await putContent(content, { sessionId, root, places, signal, hostAddresses });
    },
    open: (place, settings, limits) => openShadow(place, { directory: directoryOf(place.sessionId), settings, limits }),
    size: (place) => diskSize(directoryOf(place.sessionId)),
    changedSince: async (place, time) =>
      place.kind !== "in-place" && isNewer(join(directoryOf(place.sessionId), "files"), time),
    async remove(place) {
      const directory = directoryOf(place.sessionId);
      if (place.kind === "worktree" && (await isThere(directory))) await forgetWorktree(place.source, directory);
      await removeTree(directory);
    },
    async sessionIds() {
      const entries = await readdir(places.root, { withFileTypes: true }).catch(nothingThere);
      // Ignore anything else in the directory.
      return entries.filter((entry) => entry.isDirectory() && SESSION_ID.test(entry.name)).map(({ name }) => name);
    },
  };
}

/** Performs all checks that create nothing, and returns the remaining work. */
async function checkRequest(request: WorkspaceRequest, places: HostDirectories, signal?: AbortSignal): Promise<Make> {
  const { sessionId, workspace } = request;
  checkedId(sessionId);
  const source = await sourceDirectory(request.source);
  switch (workspace.kind) {
    case "in-place": {
      const reason = await guardReason(source, places);
      if (reason !== undefined)
        throw new CapstanError(
          "workspace_invalid",
          `A session cannot work in ${source}: ${reason}. Start it in another directory, such as a project, ` +
            "or use the kind copy with mounts.",
        );
      return async () => ({ cwd: source, source, mounts: [], notes: [] });
    }
    case "copy": {
      const mounts = await mountRequests(workspace.mounts, source, places);
      return async (directory, { signal, onProgress }) => {
        const files = join(directory, "files");
        await makeDirectory(files);
        const made = await fillCopy({ mounts, settings: workspace, files, signal, onProgress });
        // An empty workspace has no source to apply changes to.
        return { cwd: files, source: made.length === 0 ? files : source, mounts: made, notes: [] };
      };
    }
    case "worktree": {
      const asked = { sessionId, source, settings: workspace, home: places.home, signal };
      const worktree = await worktreeRequest(asked);
      return async (directory, { signal }) => {
        const made = await addWorktree(worktree, join(directory, "files"), signal);
        return { ...made, source, mounts: [], branch: worktree.branch, base: worktree.base };
      };
    }
    case "clone": {
      const clone = await cloneRequest({ sessionId, source, settings: workspace, places, signal });
      return async (directory, { signal, hostAddresses }) => {
        const files = join(directory, "files");
        const made = await makeClone(clone, { files, home: places.home, signal, hostAddresses });
        return { ...made, source: clone.source, mounts: [], branch: clone.branch };
      };
    }
  }
}

const SESSION_ID = /^[A-Za-z0-9][\w-]*$/;

/** The id becomes the name of a directory and of a branch. */
function checkedId(sessionId: string): string {
  if (SESSION_ID.test(sessionId)) return sessionId;
  throw new CapstanError("workspace_invalid", `${JSON.stringify(sessionId)} is not a session id.`);
}

async function sourceDirectory(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (error) {
    throw new CapstanError(
      "workspace_invalid",
      `The session cannot be started in ${path}: ${messageOf(error)}. Use an existing directory.`,
      { cause: error },
    );
  }
  throw new CapstanError("workspace_invalid", `${path} is not a directory. Start the session in a directory.`);
}

/** Accessible only by this user: it may contain files that are private on the host. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw diskFailure(error, "Making", path);
    throw new CapstanError("workspace_failed", `${path} already exists. Start a new session.`);
  }
}

/** The repository may be gone; then nothing refers to the worktree. */
async function forgetWorktree(source: string, directory: string): Promise<void> {
  if (await isThere(source)) return removeWorktree(source, join(directory, "files"));
  if (source !== dirname(source)) await forgetWorktree(dirname(source), directory);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function nothingThere(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") return [];
  throw error;
}
