import { openFiles } from "../../app/host/open-files.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { CapstanError, ERROR_CODES } from "../../core/errors.ts";
import type { StoredWorkspace, StoredWorkspaces } from "../../runtime/files/stored-workspaces.ts";
import { whyKept } from "../sessions/kept-workspace.ts";
import { resolveId } from "../terminal/short-id.ts";
import type { Prompts } from "../ask/ask-prompts.ts";
import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";
import { localPrompts } from "../ask/local-prompts.ts";
import { shortId } from "../terminal/text.ts";
import { workspacesTotal, workspacesText, workspaceTable } from "./workspaces.ts";
import { size } from "../../words/amounts.ts";
import { parseSize } from "./workspaces-size.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface CleanFlags {
  readonly olderThan?: string;
  readonly largerThan?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly discardChanges?: boolean;
  readonly json?: boolean;
}

/** Returns the exit code. */
export async function clean(given: readonly string[], flags: CleanFlags): Promise<number> {
  const limits = limitsIn(flags);
  const { dryRun = false, yes = false, json = false } = flags;
  await using opened = await openFiles(homeDirectory(process.env).path, process.env);
  const chosen = choose(await opened.workspaces.list(), given, limits);
  if (chosen.length === 0) {
    if (!json) print("Nothing to remove.");
    return 0;
  }
  if (!json) {
    print(`${workspaceTable(chosen)}\n\n${workspacesTotal(chosen)}`);
    if (chosen.some(({ kind }) => kind === "in-place"))
      print("In-place sessions lose only their checkpoints; the files in their directories stay.");
  }
  const prompts = dryRun || json ? undefined : await localPrompts();
  if (dryRun || (!yes && prompts === undefined)) {
    if (json) for (const workspace of chosen) print(hiddenFreeJson({ ...workspace, removed: false }));
    process.stderr.write(`Nothing was removed.${dryRun ? "" : " To remove the listed items, add --yes."}\n`);
    // The same code as for a run that waits for an answer, so that scripts do not take it for success.
    return dryRun ? 0 : ERROR_CODES.approval_pending;
  }
  if (!yes) {
    const answer = await prompts?.choose(
      `Remove ${workspacesText(chosen.length)}?`,
      [
        { value: "no", label: "No" },
        { value: "yes", label: "Yes, remove" },
      ],
      { isFirst: true },
    );
    if (answer !== "yes") {
      print("Nothing was removed.");
      return answer === undefined ? EXIT_INTERRUPTED : 0;
    }
  }
  return await removeAll(opened.workspaces, chosen, { prompts, flags });
}

interface Limits {
  readonly olderThan: number | undefined;
  readonly largerThan: number | undefined;
}

function limitsIn({ olderThan, largerThan }: CleanFlags): Limits {
  return {
    olderThan: olderThan === undefined ? undefined : parseDuration(olderThan),
    largerThan: largerThan === undefined ? undefined : parseSize(largerThan),
  };
}

/** A workspace is created before its session is saved, so younger ones may still be in creation. */
const MAY_BE_NEW_MS = 3_600_000;

/** The named ones; otherwise those beyond all given limits, and leftovers of no session. */
function choose(
  all: readonly StoredWorkspace[],
  given: readonly string[],
  { olderThan, largerThan }: Limits,
): readonly StoredWorkspace[] {
  const isBeyond = ({ lastActivityAt, bytes }: StoredWorkspace): boolean =>
    (olderThan === undefined || Date.now() - lastActivityAt > olderThan) &&
    (largerThan === undefined || bytes > largerThan);
  const named = given.map((id) => resolveId(all.map(withId), id, WORKSPACE).workspace);
  if (named.length > 0) return [...new Set(named)].filter(isBeyond);
  const hasLimit = olderThan !== undefined || largerThan !== undefined;
  return all.filter((workspace) =>
    workspace.kind === undefined
      ? Date.now() - workspace.lastActivityAt > MAY_BE_NEW_MS
      : hasLimit && isBeyond(workspace),
  );
}

const WORKSPACE = { what: "workspace", command: "capstan workspaces list" };

function withId(workspace: StoredWorkspace): { readonly id: string; readonly workspace: StoredWorkspace } {
  return { id: workspace.sessionId, workspace };
}

interface Removal {
  readonly prompts: Prompts | undefined;
  readonly flags: CleanFlags;
}

/** Continues with the others if one cannot be removed. */
async function removeAll(
  workspaces: StoredWorkspaces,
  chosen: readonly StoredWorkspace[],
  removal: Removal,
): Promise<number> {
  const json = removal.flags.json === true;
  let exitCode = 0;
  let freed = 0;
  let removed = 0;
  for (const workspace of chosen) {
    const failure = await remove(workspaces, workspace, removal);
    if (json)
      print(
        hiddenFreeJson({ ...workspace, removed: failure === undefined, ...(failure && { error: failure.message }) }),
      );
    else if (failure !== undefined) process.stderr.write(`capstan: ${escapeHidden(failure.message)}\n`);
    if (failure === undefined) {
      removed += 1;
      freed += workspace.bytes;
    } else exitCode ||= failure.exitCode;
  }
  if (!json) print(`Removed ${workspacesText(removed)}, ${size(freed)}.`);
  return exitCode;
}

/** Resolves to the failure, if any. Removes unexported changes only if the person confirms. */
async function remove(
  workspaces: StoredWorkspaces,
  { sessionId }: StoredWorkspace,
  { prompts, flags: { discardChanges = false } }: Removal,
): Promise<CapstanError | undefined> {
  const failure = await removeOne(workspaces, sessionId, discardChanges);
  if (failure?.code !== "workspace_conflict") return failure;
  if (prompts === undefined || !(await confirmLoss(prompts, sessionId))) return keptError(sessionId, failure);
  return removeOne(workspaces, sessionId, true);
}

async function removeOne(
  workspaces: StoredWorkspaces,
  sessionId: string,
  discardChanges: boolean,
): Promise<CapstanError | undefined> {
  try {
    await workspaces.remove(sessionId, { discardChanges });
    return undefined;
  } catch (thrown) {
    if (thrown instanceof CapstanError) return thrown;
    throw thrown;
  }
}

async function confirmLoss(prompts: Prompts, sessionId: string): Promise<boolean> {
  const answer = await prompts.choose(`Session ${shortId(sessionId)} has unexported changes.`, [
    { value: "keep", label: "Keep them" },
    { value: "lose", label: "Delete them permanently" },
  ]);
  return answer === "lose";
}

function keptError(sessionId: string, conflict: CapstanError): CapstanError {
  const session = shortId(sessionId);
  const why = whyKept(sessionId, conflict);
  return new CapstanError(
    "workspace_conflict",
    `Workspace of session ${session} not removed: ${why}, or add --discard-changes.`,
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
