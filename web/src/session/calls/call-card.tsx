import {
  Bot,
  ChevronRight,
  FileText,
  Globe,
  MessageCircleQuestion,
  Pencil,
  Plug,
  Puzzle,
  Search,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import type { ComponentType } from "react";
import { cx } from "../../parts/cx.ts";
import { useNow } from "../../parts/figures/figures.tsx";
import { Pill, type Tone } from "../../parts/tone.tsx";
import { CallBody } from "./call-body.tsx";
import { type CallState, runningTime, callStateOf, titleOf } from "./call-facts.ts";
import { CallResultTail } from "./call-result.tsx";
import { useFold } from "../transcript/fold-memory.tsx";
import type { Call } from "../transcript/transcript.ts";
import { duration } from "../../../../src/words/amounts.ts";

const ICONS: Readonly<Record<string, ComponentType<{ className?: string }>>> = {
  Bash: SquareTerminal,
  Read: FileText,
  Write: Pencil,
  Edit: Pencil,
  MultiEdit: Pencil,
  NotebookEdit: Pencil,
  Grep: Search,
  Glob: Search,
  WebFetch: Globe,
  WebSearch: Globe,
  Task: Bot,
  Agent: Bot,
  AskUserQuestion: MessageCircleQuestion,
};

const STATES: Record<CallState, { readonly tone: Tone; readonly label: string }> = {
  waiting: { tone: "quiet", label: "waiting" },
  asked: { tone: "waiting", label: "needs approval" },
  running: { tone: "running", label: "running" },
  done: { tone: "good", label: "done" },
  failed: { tone: "bad", label: "failed" },
  denied: { tone: "bad", label: "denied" },
  aborted: { tone: "quiet", label: "interrupted" },
};

/** Tools whose cards start open: supervisors look for what they did. */
const OPEN = new Set(["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "ExitPlanMode"]);

/** One tool call, from its request to its result. */
export function CallCard({
  call,
  sessionId,
  isTakenBack,
  onThread,
}: {
  readonly call: Call;
  readonly sessionId: string;
  readonly isTakenBack: boolean;
  readonly onThread: (id: string) => void;
}) {
  const state = callStateOf(call);
  const [isOpen, setOpen] = useFold(call.use.id);
  const open =
    isOpen ??
    // The approval card shows the details while an answer is pending.
    (state !== "asked" &&
      (state === "failed" || state === "denied" || OPEN.has(call.use.name) || call.thread !== undefined));
  const { verb, about } = titleOf(call);
  const Icon =
    ICONS[call.use.name] ??
    (call.use.type === "agent.mcp_tool_use" ? Plug : call.use.type === "agent.custom_tool_use" ? Puzzle : Wrench);
  return (
    <article
      aria-label={`${verb} ${about}`}
      className={cx(
        "overflow-hidden rounded-lg border bg-surface",
        state === "asked" ? "border-waiting/60" : "border-line",
        isTakenBack && "opacity-50",
      )}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-3 py-2 text-left text-sm hover:bg-sunken/60"
      >
        <ChevronRight
          aria-hidden
          className={cx("size-3.5 shrink-0 text-faint transition-transform", open && "rotate-90")}
        />
        <Icon className="size-4 shrink-0 text-muted" />
        <span className="shrink-0 font-medium">{verb}</span>
        <span dir="auto" className="min-w-0 flex-1 truncate font-mono text-xs text-muted" title={about}>
          {about}
        </span>
        <RunningTime call={call} isRunning={state === "running"} />
        <Pill tone={STATES[state].tone} dot={state === "running"}>
          {STATES[state].label}
        </Pill>
      </button>
      {open && (
        <div className="flex flex-col gap-2 border-t border-line px-3 py-2">
          <CallBody call={call} onThread={onThread} />
          <CallResultTail call={call} sessionId={sessionId} />
        </div>
      )}
    </article>
  );
}

function RunningTime({ call, isRunning }: { readonly call: Call; readonly isRunning: boolean }) {
  return isRunning ? <Ticking call={call} /> : <Elapsed ms={runningTime(call, 0)} />;
}

function Ticking({ call }: { readonly call: Call }) {
  return <Elapsed ms={runningTime(call, useNow(1_000))} />;
}

function Elapsed({ ms }: { readonly ms: number | undefined }) {
  // Very short durations are not shown.
  if (ms === undefined || ms < 100) return null;
  return (
    <span data-figure className="shrink-0 text-xs text-faint max-sm:hidden">
      {duration(ms)}
    </span>
  );
}
