import { Bot, MessagesSquare } from "lucide-react";
import type { WireState } from "../../../../src/client/index.ts";
import { cx } from "../../parts/cx.ts";
import { Pill, type Tone } from "../../parts/tone.tsx";

type Thread = WireState["threads"][number];
const TONES: Record<Thread["status"], Tone> = { running: "running", idle: "good", terminated: "bad" };
const WORDS: Record<Thread["status"], string> = { running: "running", idle: "done", terminated: "ended" };

/** The main thread and its subagents, as a tree. */
export function ThreadsPanel({
  threads,
  chosen,
  onChoose,
}: {
  readonly threads: readonly Thread[];
  readonly chosen: string | null;
  readonly onChoose: (id: string | null) => void;
}) {
  return (
    <nav aria-label="Threads" className="flex flex-col gap-0.5 text-sm">
      <Row isChosen={chosen === null} onClick={() => onChoose(null)}>
        <MessagesSquare className="size-4 shrink-0 text-muted" aria-hidden />
        Main thread
      </Row>
      <Branch parent={null} threads={threads} chosen={chosen} onChoose={onChoose} />
      {threads.length === 0 && <p className="px-2 pt-2 text-xs text-faint">No subagents.</p>}
    </nav>
  );
}

function Branch({
  parent,
  threads,
  chosen,
  onChoose,
}: {
  readonly parent: string | null;
  readonly threads: readonly Thread[];
  readonly chosen: string | null;
  readonly onChoose: (id: string) => void;
}) {
  const own = threads.filter(({ parent_thread_id }) => parent_thread_id === parent);
  if (own.length === 0) return null;
  return (
    <ul className="ml-3 flex flex-col gap-0.5 border-l border-line pl-2">
      {own.map((thread) => (
        <li key={thread.id}>
          <Row isChosen={chosen === thread.id} onClick={() => onChoose(thread.id)}>
            <Bot className="size-4 shrink-0 text-muted" aria-hidden />
            <span className="min-w-0 flex-1 truncate">{thread.agent_name}</span>
            <Pill tone={TONES[thread.status]} dot={thread.status === "running"}>
              {WORDS[thread.status]}
            </Pill>
          </Row>
          <Branch parent={thread.id} threads={threads} chosen={chosen} onChoose={onChoose} />
        </li>
      ))}
    </ul>
  );
}

function Row({
  isChosen,
  onClick,
  children,
}: {
  readonly isChosen: boolean;
  readonly onClick: () => void;
  readonly children: React.ReactNode;
}) {
  return (
    <button
      type="button"
      aria-current={isChosen ? "true" : undefined}
      onClick={onClick}
      className={cx(
        "flex h-8 w-full items-center gap-2 rounded-md px-2 text-left",
        isChosen ? "bg-sunken font-medium" : "hover:bg-sunken",
      )}
    >
      {children}
    </button>
  );
}
