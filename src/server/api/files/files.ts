import type { ApplyOutcome } from "../../../core/ports/workspace.ts";
import { dataList } from "../../../protocol/api/common.ts";
import {
  applied,
  applyInput,
  diffQuery,
  patchQuery,
  rewindInput,
  undoQuery,
  type WireApplied,
  type WireCheckpoint,
  type WireDiff,
  type WireRewind,
} from "../../../protocol/api/files.ts";
import { findSession } from "../../http/lookup.ts";
import { checkpointComponent, diffComponent, rewindComponent } from "../document/components.ts";
import type { ApiDeps } from "../deps.ts";
import { type Api, endpoint, type Heavy } from "../endpoint.ts";
import { requireOpenChanges } from "./hidden-files.ts";
import type { Checkpoint } from "../../../core/session/checkpoint-list.ts";
import type { SessionDiff } from "../../../runtime/files/files.ts";
import type { Rewind } from "../../../runtime/files/rewind.ts";

const tag = "Workspace";
/** In events: more than can follow a rewind before it is answered. */
const TAIL = 100;

/** Shows, rewinds and applies changes of a session's files. */
export function addFiles(api: Api, deps: ApiDeps, heavy: Heavy): void {
  const { files } = deps.runtime;

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/checkpoints",
      heavy,
      role: "viewer",
      tag,
      summary: "List checkpoints",
      description: "Oldest first: the file states that you can rewind to.",
      answer: dataList(checkpointComponent),
    },
    async ({ caller, params: { id } }) => {
      await findSession(deps, caller.project, id);
      return { data: (await files.checkpoints(id)).map(checkpointToWire) };
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/diff",
      heavy,
      role: "viewer",
      tag,
      summary: "List changed files",
      description: "By default from the session's start until now. Also works while the session is running.",
      query: diffQuery,
      answer: diffComponent,
    },
    async ({ caller, params: { id }, query: { by_call: byCall = false, ...range }, limits }) => {
      await findSession(deps, caller.project, id);
      return diffToWire(await files.diff(id, { ...range, byCall }, limits));
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/patch",
      heavy,
      role: "viewer",
      tag,
      summary: "Get the changes as a patch",
      description:
        "A patch that git can apply, including binary files. With `path`, only that file's changes; empty if it has not changed. Does not count as an export. Admins only if a hidden file changed.",
      query: patchQuery,
      answer: "text/x-diff",
    },
    async ({ c, caller, params: { id }, query, limits }) => {
      const record = await findSession(deps, caller.project, id);
      await requireOpenChanges(deps, { caller, record, range: query, limits });
      c.header("content-type", "text/x-diff; charset=utf-8");
      return c.body(new Uint8Array(await files.patch(id, query, limits)));
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/rewind",
      role: "operator",
      tag,
      summary: "Rewind the files to a checkpoint",
      description:
        "Takes a checkpoint of the current files first, so that the rewind can be undone. In place, only the session's own changes are rewound. If someone else has changed these files since, returns 409 with their names.",
      body: rewindInput,
      answer: rewindComponent,
    },
    async ({
      caller,
      params: { id },
      body: { to, conversation = false, dry_run: dryRun = false, overwrite = false },
    }) => {
      await findSession(deps, caller.project, id);
      return rewindToWire(await files.rewind(id, { to, conversation, dryRun, overwrite }), conversation);
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/rewind/undo",
      role: "operator",
      tag,
      summary: "Undo the last rewind",
      description: "Also restores the conversation, if it was rewound.",
      query: undoQuery,
      answer: rewindComponent,
    },
    async ({ caller, params: { id }, query: { overwrite = false } }) => {
      await findSession(deps, caller.project, id);
      const undone = await files.undoRewind(id, { overwrite });
      // The event was just saved.
      const head = await deps.runtime.head(id);
      const tail = await deps.runtime.read(id, { after: Math.max(0, head - TAIL) });
      const last = tail.findLast(({ type }) => type === "capstan.rewound");
      return rewindToWire(undone, last?.type === "capstan.rewound" && last.to_seq !== undefined);
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/apply",
      role: "operator",
      tag,
      summary: "Apply the changes",
      description:
        "Writes the changes to the workspace's source on the server's machine, all or nothing. If there are conflicts, writes nothing.",
      body: applyInput,
      answer: applied,
    },
    async ({ caller, params: { id }, body: { dry_run: dryRun = false } }) => {
      await findSession(deps, caller.project, id);
      return outcomeToWire(await files.apply(id, { dryRun }));
    },
  );
}

function outcomeToWire({ applied: done, conflicts }: ApplyOutcome): WireApplied {
  return { applied: [...done], conflicts: [...conflicts] };
}

function checkpointToWire({ leftOut, calls, since, ...checkpoint }: Checkpoint): WireCheckpoint {
  return { ...checkpoint, calls: [...calls], ...(since !== undefined && { since }), left_out: leftOut };
}

function diffToWire({ files, steps }: SessionDiff): WireDiff {
  return {
    files: [...files],
    steps: steps.map(({ calls, checkpointId, files: changed }) => ({
      calls: [...calls],
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
      files: [...changed],
    })),
  };
}

function rewindToWire({ checkpoint, files, conflicts, undoCheckpointId }: Rewind, conversation: boolean): WireRewind {
  return {
    checkpoint: checkpointToWire(checkpoint),
    files: [...files],
    conflicts: [...conflicts],
    ...(undoCheckpointId !== undefined && { undo_checkpoint_id: undoCheckpointId }),
    conversation,
  };
}
