import { openFiles } from "../../app/host/open-files.ts";
import { homeDirectory } from "../../config/project/home.ts";
import type { StoredWorkspace } from "../../runtime/files/stored-workspaces.ts";
import { ago, shortId, table } from "../terminal/text.ts";
import { size } from "../../words/amounts.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export async function listWorkspaces({ json = false }: { readonly json?: boolean }): Promise<void> {
  await using opened = await openFiles(homeDirectory(process.env).path, process.env);
  const all = await opened.workspaces.list();
  if (json) return all.forEach((workspace) => print(hiddenFreeJson(workspace)));
  if (all.length === 0) return print("No workspaces or checkpoints on this machine.");
  print(workspaceTable(all));
  print(`\n${workspacesTotal(all)}`);
  const untaken = all.find(({ hasUnexportedChanges }) => hasUnexportedChanges);
  if (untaken !== undefined) print(`Show unexported changes: capstan diff ${shortId(untaken.sessionId)}`);
}

export function workspaceTable(all: readonly StoredWorkspace[]): string {
  const rows = all.map(({ sessionId, kind, bytes, lastActivityAt, hasUnexportedChanges, source }) => [
    shortId(sessionId),
    kind ?? "leftover",
    size(bytes),
    ago(Date.now() - lastActivityAt),
    hasUnexportedChanges ? "unexported" : "",
    kind === undefined ? "no session in this store" : source,
  ]);
  return table(["SESSION", "KIND", "SIZE", "ACTIVE", "CHANGES", "SOURCE"], rows);
}

export function workspacesTotal(all: readonly StoredWorkspace[]): string {
  return `${workspacesText(all.length)}, ${size(all.reduce((sum, { bytes }) => sum + bytes, 0))} on disk`;
}

export function workspacesText(some: number): string {
  return some === 1 ? "1 workspace" : `${some} workspaces`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
