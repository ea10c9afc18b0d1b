import type { FilesState } from "../core/state-files.ts";

/** The instructions, and in a few words what lies in the workspace. The same for every process: the model's cache stays good. */
export function withPlace(instructions: string, workspace: FilesState["workspace"]): string {
  const note = workspace && noteOn(workspace);
  return note === undefined ? instructions : [instructions, note].filter((part) => part !== "").join("\n\n");
}

function noteOn({ kind, branch, mounts = [] }: NonNullable<FilesState["workspace"]>): string | undefined {
  if (kind === "in-place") return undefined;
  if (kind === "worktree")
    return `Your working directory is a git worktree of your own${branch === undefined ? "" : ` on the branch ${branch}`}. Your changes stay in it until a person takes them over.`;
  if (kind === "clone")
    return "Your working directory is a clone of your own of a git repository. Your changes stay in it until a person takes them over.";
  const lines = mounts.map(
    ({ target, files, readOnly }) =>
      `- ${target} (${files} ${files === 1 ? "file" : "files"}${readOnly ? ", read-only" : ""})`,
  );
  return [
    "Your working directory holds copies. Your changes stay in it until a person takes them over.",
    ...lines,
  ].join("\n");
}
