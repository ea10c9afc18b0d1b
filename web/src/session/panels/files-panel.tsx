import { useQuery } from "@tanstack/react-query";
import { Download, GitBranch, History, Upload } from "lucide-react";
import { useState } from "react";
import type { WireSessionWithState } from "../../../../src/client/index.ts";
import { api } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Counts, DiffView, filesOf } from "../../parts/text/diff-view.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Menu, MenuItem } from "../../parts/menu.tsx";
import { Problem } from "../../parts/failure/problem.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { tell, tellProblem } from "../../parts/toast.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { ApplyDialog } from "./apply-dialog.tsx";
import { RewindDialog } from "./rewind-dialog.tsx";

/** The session's file changes and actions on them. `stamp` changes with the files. */
export function FilesPanel({
  session,
  stamp,
  mayChange,
}: {
  readonly session: WireSessionWithState;
  readonly stamp: string;
  readonly mayChange: boolean;
}) {
  const { id } = session;
  const [open, setOpen] = useState<Opened>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <ChangedFiles session={session} stamp={stamp} mayChange={mayChange} onOpen={setOpen} />
      {/* Outside the list, which may fail to load: an open dialog must not be closed. */}
      {open?.kind === "rewind" && <RewindDialog sessionId={id} onClose={close} />}
      {open?.kind === "apply" && <ApplyDialog sessionId={id} onClose={close} />}
      {open?.kind === "file" && <FileDialog sessionId={id} path={open.path} stamp={stamp} onClose={close} />}
    </>
  );
}

type Opened = { readonly kind: "rewind" | "apply" } | { readonly kind: "file"; readonly path: string };

function ChangedFiles({
  session: { id, state },
  stamp,
  mayChange,
  onOpen,
}: {
  readonly session: WireSessionWithState;
  readonly stamp: string;
  readonly mayChange: boolean;
  readonly onOpen: (what: Opened) => void;
}) {
  const hasCheckpoints = state.files.start !== null;
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ["session", id, "diff", stamp],
    queryFn: () => api.files.diff(id),
    enabled: hasCheckpoints && !state.files.removed,
    placeholderData: (before) => before,
  });
  if (state.files.removed) return <p className="text-sm text-muted">The workspace and its checkpoints were removed.</p>;
  if (!hasCheckpoints) return <p className="text-sm text-muted">No files changed yet.</p>;
  if (error !== null) return <Problem thrown={error} onRetry={() => void refetch()} />;
  if (isPending) return <Loading />;
  const files = data?.files ?? [];
  const isOwnCopy = state.files.workspace !== null && state.files.workspace.kind !== "in-place";
  return (
    <div className="flex flex-col gap-3 text-sm">
      <div className="flex flex-wrap gap-1">
        {mayChange && (
          <Button small icon={<History className="size-3.5" />} onClick={() => onOpen({ kind: "rewind" })}>
            Rewind
          </Button>
        )}
        {mayChange && isOwnCopy && (
          <Button
            small
            icon={<Upload className="size-3.5" />}
            onClick={() => onOpen({ kind: "apply" })}
            disabled={files.length === 0}
          >
            Apply
          </Button>
        )}
        <ExportMenu id={id} mayChange={mayChange} isEmpty={files.length === 0} />
      </div>
      {files.length === 0 ? (
        <p className="text-muted">No changes.</p>
      ) : (
        <ul aria-label="Changed files" className="flex flex-col">
          {files.map((file) => (
            <li key={file.path}>
              <button
                type="button"
                onClick={() => onOpen({ kind: "file", path: file.path })}
                className="flex w-full items-center gap-2 rounded-md px-2 py-1 text-left hover:bg-sunken"
              >
                <span className={KINDS[file.kind].look} title={file.kind}>
                  {KINDS[file.kind].letter}
                </span>
                <span dir="ltr" className="min-w-0 flex-1 truncate font-mono text-xs" title={file.path}>
                  {file.path}
                </span>
                {file.insertions === undefined ? (
                  <span className="text-xs text-faint">binary</span>
                ) : (
                  <span className="text-xs">
                    <Counts added={file.insertions} removed={file.deletions ?? 0} />
                  </span>
                )}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const KINDS = {
  added: { letter: "A", look: "w-3 font-mono text-xs font-semibold text-good" },
  modified: { letter: "M", look: "w-3 font-mono text-xs font-semibold text-waiting" },
  deleted: { letter: "D", look: "w-3 font-mono text-xs font-semibold text-bad" },
} as const;

function save(name: string, content: Promise<BlobPart>): void {
  content.then((part) => saveFile(name, new Blob([part]))).catch(tellProblem);
}

function ExportMenu({
  id,
  mayChange,
  isEmpty,
}: {
  readonly id: string;
  readonly mayChange: boolean;
  readonly isEmpty: boolean;
}) {
  return (
    <Menu
      trigger={
        <Button small icon={<Download className="size-3.5" />} disabled={isEmpty}>
          Export
        </Button>
      }
    >
      <MenuItem icon={<Download />} onSelect={() => save(`${id}.patch`, api.files.patch(id) as Promise<BlobPart>)}>
        As a patch
      </MenuItem>
      {mayChange && (
        <MenuItem
          icon={<Download />}
          onSelect={() =>
            save(
              `${id}.zip`,
              api.files.exportZip(id).then((stream) => new Response(stream).blob()),
            )
          }
        >
          As a zip of changed files
        </MenuItem>
      )}
      {mayChange && (
        <MenuItem
          icon={<GitBranch />}
          onSelect={() => {
            api.files
              .exportBranch(id)
              .then(({ branch, repository }) => tell(`Created the branch ${branch} in ${repository}.`))
              .catch(tellProblem);
          }}
        >
          As a git branch
        </MenuItem>
      )}
    </Menu>
  );
}

function FileDialog({
  sessionId,
  path,
  stamp,
  onClose,
}: {
  readonly sessionId: string;
  readonly path: string;
  readonly stamp: string;
  readonly onClose: () => void;
}) {
  const { data, error } = useQuery({
    queryKey: ["session", sessionId, "patch", path, stamp],
    queryFn: async () => filesOf(new TextDecoder().decode(await api.files.patch(sessionId, { path }))),
  });
  const lines = data?.[0]?.lines ?? [];
  return (
    <Dialog title={path} wide onClose={onClose}>
      {error !== null && <Problem thrown={error} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && lines.length === 0 && (
        <p className="text-sm text-muted">Nothing to show: the file is empty or binary.</p>
      )}
      {/* The file's real name: the patch escapes special characters. */}
      {data?.[0] !== undefined && lines.length > 0 && <DiffView file={{ ...data[0], path }} fold={400} />}
    </Dialog>
  );
}
