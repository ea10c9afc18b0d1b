import type { FilesState } from "../../core/session/state-files.ts";
import type { SessionRecord, SessionResource } from "../../core/ports/store.ts";

/**
 * The instructions, and in a few words what lies in the workspace. The same for every process, and for every session
 * with such a workspace: no number, name of a branch or path of the host is in it, so that the model's cache stays good.
 */
export function withPlace({ agent, resources }: SessionRecord, workspace: FilesState["workspace"]): string {
  const note = workspace && noteOn(workspace, resources);
  return [agent.instructions, note].filter((part) => part !== undefined && part !== "").join("\n\n");
}

function noteOn(
  { kind, mounts = [] }: NonNullable<FilesState["workspace"]>,
  resources: readonly SessionResource[],
): string | undefined {
  if (kind === "in-place") return undefined;
  if (kind === "worktree")
    return "Your working directory is a git worktree of your own, on a branch of its own. Your changes stay in it until a person takes them over.";
  if (kind === "clone")
    return "Your working directory is a clone of your own of a git repository. Your changes stay in it until a person takes them over.";
  const lines = mounts.map(({ target, readOnly }) => `- ${target}${readOnly ? " (read-only)" : ""}`);
  const given = resources.map(({ type, mountPath }) => `- ${mountPath} (${type})`);
  const what = lines.length === 0 ? "is a directory of your own" : "holds copies";
  return [
    `Your working directory ${what}. Your changes stay in it until a person takes them over.`,
    ...lines,
    ...given,
  ].join("\n");
}
