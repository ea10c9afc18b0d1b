import { useState } from "react";
import type { WireSessionWithState } from "../../../../src/client/index.ts";
import { Dialog } from "../../parts/form/dialog.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { DetailsPanel } from "./details-panel.tsx";
import { FilesPanel } from "./files-panel.tsx";
import { ThreadsPanel } from "./threads-panel.tsx";

/** Beside the transcript if there is room, otherwise over it. */
export function SidePanel({
  session,
  isOpen,
  onClose,
  thread,
  onThread,
  mayChange,
}: {
  readonly session: WireSessionWithState;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly thread: string | null;
  readonly onThread: (id: string | null) => void;
  readonly mayChange: boolean;
}) {
  const { state } = session;
  // Opens with changed files if any, otherwise with subagents.
  const [tab, setTab] = useState(state.files.start === null && state.threads.length > 0 ? "threads" : "files");
  const running = state.threads.filter(({ status }) => status === "running").length;
  // The files may change with every checkpoint and turn end.
  const stamp = `${state.files.last?.id ?? ""} ${state.turns} ${session.status}`;
  const tabs = (
    <Tabs
      label="About this session"
      value={tab}
      onChange={setTab}
      tabs={[
        { id: "files", label: "Files", content: <FilesPanel session={session} stamp={stamp} mayChange={mayChange} /> },
        {
          id: "threads",
          label: `Threads${running > 0 ? ` (${running} running)` : state.threads.length > 0 ? ` (${state.threads.length})` : ""}`,
          content: (
            <ThreadsPanel
              threads={state.threads}
              chosen={thread}
              onChoose={(id) => {
                onThread(id);
                onClose();
              }}
            />
          ),
        },
        { id: "details", label: "Details", content: <DetailsPanel session={session} /> },
      ]}
    />
  );
  return (
    <>
      <aside
        aria-label="Files, threads and details"
        className="flex w-80 shrink-0 flex-col border-l border-line pt-2 max-lg:hidden"
      >
        {tabs}
      </aside>
      {isOpen && (
        <Dialog title="About this session" onClose={onClose}>
          {tabs}
        </Dialog>
      )}
    </>
  );
}
