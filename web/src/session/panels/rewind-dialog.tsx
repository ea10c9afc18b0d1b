import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { WireCheckpoint, WireRewind } from "../../../../src/client/index.ts";
import { api, queries } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Checkbox } from "../../parts/form/checkbox.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { Counts } from "../../parts/text/diff-view.tsx";
import { Clock } from "../../parts/figures/figures.tsx";
import { useFailure } from "../../parts/failure/failure.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/failure/problem.tsx";
import { tell } from "../../parts/toast.tsx";

/** Restores the files of a checkpoint. Shows what would change first, and can be undone. */
export function RewindDialog({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  const [chosen, setChosen] = useState<WireCheckpoint>();
  const [withConversation, setWithConversation] = useState(false);
  const [mayOverwrite, setMayOverwrite] = useState(false);
  const [failure, setFailure] = useFailure();
  const [isBusy, setBusy] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["session", sessionId, "checkpoints"],
    queryFn: () => api.files.checkpoints(sessionId),
    staleTime: 0,
  });
  const preview = useQuery({
    queryKey: ["session", sessionId, "rewind", chosen?.id],
    queryFn: () => api.files.rewind(sessionId, { to: chosen?.id ?? "", dry_run: true }),
    enabled: chosen !== undefined,
  });
  const conflicts = preview.data?.conflicts ?? [];
  const change = async (act: () => Promise<WireRewind>, said: string): Promise<void> => {
    setBusy(true);
    try {
      const { files } = await act();
      void queries.invalidateQueries({ queryKey: ["session", sessionId] });
      tell(`${said}: ${files.length} file${files.length === 1 ? "" : "s"} restored.`);
      onClose();
    } catch (thrown) {
      setFailure(thrown);
      setBusy(false);
    }
  };
  const undo = (): Promise<void> => change(() => api.files.undoRewind(sessionId), "Rewind undone");
  const rewind = (): Promise<void> =>
    change(
      () =>
        api.files.rewind(sessionId, {
          to: chosen?.id ?? "",
          conversation: withConversation,
          overwrite: mayOverwrite && conflicts.length > 0,
        }),
      "Rewound",
    );
  return (
    <Dialog title="Rewind files" wide onClose={onClose}>
      <div className="flex flex-col gap-3 text-sm">
        {error !== null && <Problem thrown={error} />}
        {data === undefined && error === null && <Loading />}
        {data !== undefined && (
          <fieldset className="flex max-h-64 flex-col overflow-y-auto rounded-md border border-line">
            <legend className="sr-only">Checkpoint</legend>
            {data.toReversed().map((checkpoint) => (
              <label
                key={checkpoint.id}
                className="flex cursor-pointer items-center gap-3 border-b border-line px-3 py-2 last:border-0 hover:bg-sunken"
              >
                <input
                  type="radio"
                  name="checkpoint"
                  checked={chosen?.id === checkpoint.id}
                  onChange={() => {
                    setChosen(checkpoint);
                    setMayOverwrite(false);
                  }}
                  className="accent-[var(--accent)]"
                />
                <span className="min-w-0 flex-1">
                  <span className="block truncate">{labelOf(checkpoint)}</span>
                  <span className="text-xs text-faint">
                    turn {checkpoint.turn} · <Clock at={checkpoint.at} />
                  </span>
                </span>
              </label>
            ))}
          </fieldset>
        )}
        {chosen !== undefined && preview.data !== undefined && (
          <div>
            <p className="mb-1 font-medium">
              {preview.data.files.length === 0 ? "No files would change." : "Files that would change"}
            </p>
            <ul className="max-h-40 overflow-y-auto font-mono text-xs">
              {preview.data.files.map((file) => (
                <li key={file.path} className="flex justify-between gap-2 py-0.5">
                  <span className="truncate">
                    {file.kind}: {file.path}
                  </span>
                  {file.insertions !== undefined && <Counts added={file.insertions} removed={file.deletions ?? 0} />}
                </li>
              ))}
            </ul>
          </div>
        )}
        {conflicts.length > 0 && (
          <div>
            <p className="mb-1 font-medium">Changed by someone else since then</p>
            <ul className="mb-2 max-h-40 overflow-y-auto font-mono text-xs">
              {conflicts.map((path) => (
                <li key={path} className="truncate py-0.5">
                  {path}
                </li>
              ))}
            </ul>
            <Checkbox isOn={mayOverwrite} onChange={setMayOverwrite}>
              Overwrite these files too
            </Checkbox>
          </div>
        )}
        {preview.error !== null && <Problem thrown={preview.error} />}
        <Checkbox isOn={withConversation} onChange={setWithConversation}>
          Also rewind the conversation
        </Checkbox>
        {failure !== undefined && <Problem thrown={failure} />}
        <div className="flex flex-wrap justify-end gap-2">
          <Button look="quiet" className="mr-auto" disabled={isBusy} onClick={() => void undo()}>
            Undo last rewind
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={
              preview.data === undefined || preview.isFetching || isBusy || (conflicts.length > 0 && !mayOverwrite)
            }
            onClick={() => void rewind()}
          >
            Rewind
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function labelOf({ reason, before, calls }: WireCheckpoint): string {
  if (reason === "call_end") return `After ${calls.map(({ tool, subject }) => `${tool} ${subject}`).join(", ")}`;
  if (before !== undefined) return `Before ${before.tool} ${before.subject}`;
  if (reason === "turn_end") return "End of the turn";
  return reason === "rewind" ? "Before a rewind" : "Manual checkpoint";
}
