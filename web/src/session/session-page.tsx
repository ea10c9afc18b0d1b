import { PanelRight } from "lucide-react";
import { type DragEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import type { MessageInput, WireSessionWithState } from "../../../src/client/index.ts";
import { api, isRefused } from "../api.ts";
import { SessionApprovals } from "../approvals/session-approvals.tsx";
import { useMay } from "../caller.tsx";
import { Button, IconButton } from "../parts/button.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { useShortcuts } from "../shell/shortcuts.ts";
import { Announcer } from "./transcript/announcer.tsx";
import { Composer, type ComposerHandle } from "./compose/composer.tsx";
import { Connection } from "./connection.tsx";
import { FoldMemory } from "./transcript/fold-memory.tsx";
import { useSessionActions } from "./session-actions.ts";
import { SessionControls } from "./session-controls.tsx";
import { SessionGone } from "./session-gone.tsx";
import { SessionHeader } from "./session-header.tsx";
import { SidePanel } from "./panels/side-panel.tsx";
import { TranscriptRow } from "./transcript/transcript-row.tsx";
import { type TranscriptHandle, TranscriptView } from "./transcript/transcript-view.tsx";
import { previewItems, type Item, transcriptOf } from "./transcript/transcript.ts";
import { useLiveSession, useSessionQuery } from "./use-session.ts";

/** One session: transcript, approvals, file changes and controls. */
export function SessionPage({ id }: { readonly id: string }) {
  const { data: session, error, refetch } = useSessionQuery(id);
  // Replaces a session that was deleted while it was open.
  if (isRefused(error, 404)) return <SessionGone id={id} wasThere={session !== undefined} />;
  if (session === undefined)
    return error === null ? (
      <Loading />
    ) : (
      <div className="p-6">
        <Problem thrown={error} onRetry={() => void refetch()} />
      </div>
    );
  return <OpenSession session={session} problem={error} />;
}

function OpenSession({
  session,
  problem,
}: {
  readonly session: WireSessionWithState;
  /** Why the session data may be out of date. */
  readonly problem: Error | null;
}) {
  const { id, state } = session;
  const { live, view, restart } = useLiveSession(id);
  const { interrupt, interruptOnSecond, fork } = useSessionActions(id);
  const [search, setSearch] = useSearchParams();
  const thread = search.get("thread");
  const mayChange = useMay("operator");
  const [isPanelOpen, setPanelOpen] = useState(false);
  const composer = useRef<ComposerHandle>(null);
  const transcript = useRef<TranscriptHandle>(null);
  const isRunning =
    session.status === "running" || session.status === "rescheduling" || state.stop_reason?.type === "requires_action";

  // Not recomputed for every preview.
  const items = useMemo(() => transcriptOf(view.events, thread), [view.events, thread]);
  const rows = useMemo(() => [...items, ...previewItems(view.sayings, thread)], [items, view.sayings, thread]);

  // Events loaded to find a subagent's thread must not be dropped with the next event of another thread.
  useEffect(() => {
    live.isReading = thread !== null;
  }, [live, thread]);
  const openThread = useCallback(
    (to: string | null) => setSearch(to === null ? {} : { thread: to }, { replace: true }),
    [setSearch],
  );
  const older = useCallback(() => live.older(), [live]);
  const send = async (content: MessageInput): Promise<void> => {
    await api.sessions.send(id, content);
    // A subagent's thread does not show the message.
    if (thread === null) transcript.current?.toEnd();
  };
  const onEscape = (): void => {
    if (isRunning && mayChange) interruptOnSecond();
  };
  useShortcuts({ i: () => composer.current?.focus(), Escape: onEscape });
  const onFork = mayChange ? fork : undefined;
  const render = useCallback(
    (item: Item) => <TranscriptRow item={item} sessionId={id} onThread={openThread} onFork={onFork} />,
    [id, openThread, onFork],
  );

  return (
    <div className="flex h-full min-h-0">
      {/* Files can be dropped anywhere; there is also a button. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div
        className="flex min-w-0 flex-1 flex-col"
        onDragOver={(event) => hasFiles(event) && event.preventDefault()}
        onDrop={(event) => {
          if (!hasFiles(event)) return;
          event.preventDefault();
          composer.current?.attach([...event.dataTransfer.files]);
        }}
      >
        <SessionHeader session={session} mayChange={mayChange}>
          <IconButton
            label="Threads, files and details"
            aria-expanded={isPanelOpen}
            className="lg:hidden"
            onClick={() => setPanelOpen(!isPanelOpen)}
          >
            <PanelRight className="size-4" />
          </IconButton>
        </SessionHeader>
        {thread !== null && (
          <ThreadBar
            name={state.threads.find((one) => one.id === thread)?.agent_name}
            onBack={() => openThread(null)}
          />
        )}
        <Connection view={view} problem={problem} onRestart={restart} />
        {view.connection !== "loading" && <Announcer items={items} head={view.events.at(-1)?.seq ?? 0} />}
        {view.connection === "loading" ? (
          <div className="flex-1">
            <Loading />
          </div>
        ) : (
          <FoldMemory key={thread ?? "main"}>
            <TranscriptView
              ref={transcript}
              items={rows}
              first={view.events[0]?.seq ?? 0}
              hasOlder={view.hasOlder}
              onOlder={older}
              onReading={(isReading) => (live.isReading = isReading || thread !== null)}
              render={render}
            />
          </FoldMemory>
        )}
        <SessionApprovals sessionId={id} />
        <Composer
          ref={composer}
          sessionId={id}
          isRunning={isRunning}
          disabledBecause={silence(session, mayChange)}
          onSend={send}
          onInterrupt={interrupt}
          onEscape={onEscape}
          tools={<SessionControls session={session} mayChange={mayChange && session.archived_at === null} />}
        />
      </div>
      <SidePanel
        session={session}
        isOpen={isPanelOpen}
        onClose={() => setPanelOpen(false)}
        thread={thread}
        onThread={openThread}
        mayChange={mayChange}
      />
    </div>
  );
}

/** Dragged text is left to the browser. */
function hasFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes("Files");
}

/** Why messages cannot be sent. */
function silence(session: WireSessionWithState, mayChange: boolean): string | undefined {
  if (!mayChange) return "Your role is read-only.";
  if (session.archived_at !== null) return "This session is archived. Fork it to continue.";
  if (session.status === "terminated") return "This session has ended. Fork it to continue.";
  return session.state.files.removed ? "The workspace of this session was removed. Fork it to continue." : undefined;
}

function ThreadBar({ name, onBack }: { readonly name: string | undefined; readonly onBack: () => void }) {
  return (
    <div className="flex items-center gap-2 border-b border-line bg-running-soft px-4 py-1.5 text-sm text-running">
      Subagent {name ?? ""}
      <Button small look="quiet" onClick={onBack}>
        Back to the main thread
      </Button>
    </div>
  );
}
