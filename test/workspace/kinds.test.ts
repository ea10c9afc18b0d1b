import { workspaceContract } from "../contract/workspace.ts";

workspaceContract({ workspace: { kind: "in-place" }, owns: false });
workspaceContract({ workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] }, owns: true });
workspaceContract({ workspace: { kind: "worktree" }, owns: true });
workspaceContract({ workspace: { kind: "clone" }, owns: true });
