import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, queries } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { useFailure } from "../../parts/failure/failure.ts";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/failure/problem.tsx";
import { tell } from "../../parts/toast.tsx";

/** Writes the changes back to the source directory, all or nothing, after a dry run. */
export function ApplyDialog({ sessionId, onClose }: { readonly sessionId: string; readonly onClose: () => void }) {
  const [failure, setFailure] = useFailure();
  const [isBusy, setBusy] = useState(false);
  const { data, error } = useQuery({
    queryKey: ["session", sessionId, "apply"],
    queryFn: () => api.files.apply(sessionId, { dryRun: true }),
    // Always run a fresh dry run.
    gcTime: 0,
  });
  const apply = async (): Promise<void> => {
    setBusy(true);
    try {
      const { applied } = await api.files.apply(sessionId);
      void queries.invalidateQueries({ queryKey: ["session", sessionId] });
      tell(`Applied: ${applied.length} file${applied.length === 1 ? "" : "s"}.`);
      onClose();
    } catch (thrown) {
      setFailure(thrown);
      setBusy(false);
    }
  };
  const conflicts = data?.conflicts ?? [];
  return (
    <Dialog title="Apply changes" wide onClose={onClose}>
      <div className="flex flex-col gap-3 text-sm">
        <p className="text-muted">
          Writes the changes to the directory that this session’s workspace was created from.
        </p>
        {error !== null && <Problem thrown={error} />}
        {data === undefined && error === null && <Loading label="Checking for conflicts" />}
        {conflicts.length > 0 && (
          <div role="alert" className="rounded-md border border-bad/40 bg-bad-soft p-2">
            <p className="font-medium text-bad">Nothing can be applied, because these files have also changed there</p>
            <ul className="mt-1 font-mono text-xs">
              {conflicts.map(({ path, why }) => (
                <li key={path}>
                  {path}: {why}
                </li>
              ))}
            </ul>
          </div>
        )}
        {data !== undefined && conflicts.length === 0 && (
          <ul aria-label="Changes to apply" className="max-h-64 overflow-y-auto font-mono text-xs">
            {data.applied.map(({ path, how }) => (
              <li key={path} className="flex justify-between gap-2 py-0.5">
                <span className="truncate">{path}</span>
                <span className="text-faint">{how}</span>
              </li>
            ))}
          </ul>
        )}
        {failure !== undefined && <Problem thrown={failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={data === undefined || conflicts.length > 0 || isBusy}
            onClick={() => void apply()}
          >
            Apply
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
