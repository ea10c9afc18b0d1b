import { stringify } from "yaml";
import type { EventOf } from "../../../core/events/events.ts";
import type { SessionState } from "../../../core/session/state.ts";
import { decidedInput } from "../../follow/decided-input.ts";
import { describe, reasonIn, textIn, type ToolResult } from "../../follow/run-view.ts";
import { color, oneLine, duration } from "../../terminal/text.ts";
import { wrapRows } from "./rows.ts";
import { escapeHidden } from "../../../words/hidden-text.ts";

type ToolUse = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

/** A tool call in the chat. */
interface Call {
  readonly id: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly at: number;
  readonly threadId: string | undefined;
  /** Calls of the subagent that this call started. */
  readonly children: Call[];
  result?: ToolResult;
}

export interface RunningOptions {
  readonly width: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Printed before each call. */
  readonly mark: string;
}

/** Number of calls kept for showing details. */
const MAX_KEPT = 100;
/** Most lines shown of an input or a result. */
const MAX_LINES = 60;

/** The running tool calls, and those of the last turn. Calls of a subagent are below the call that started it. */
export class Calls {
  readonly #running = new Map<string, Call>();
  #kept: Call[] = [];
  /** Whether calls are shown with their inputs and results. */
  isUnfolded = false;

  start(event: ToolUse, state: SessionState): void {
    const { call_id: id, name: tool, input, session_thread_id: thread, processed_at: at } = event;
    const call: Call = { id, tool, input, at: Date.parse(at), threadId: thread ?? undefined, children: [] };
    this.#running.set(id, call);
    this.#parentOf(call, state)?.children.push(call);
  }

  /** A person may have edited the input. */
  applyDecision(event: EventOf<"capstan.permission_decided">): void {
    const call = this.#running.get(event.call_id);
    const input = call && decidedInput(call.input, event);
    if (call !== undefined && input !== undefined) Object.assign(call, { input });
  }

  /** The lines to print; none for a subagent's call, which is printed with the call that started the subagent. */
  finish(event: ToolResult, { state, width }: { readonly state: SessionState; readonly width: number }): string[] {
    const call = this.#running.get(event.call_id ?? "");
    if (call === undefined) return [];
    this.#running.delete(call.id);
    call.result = event;
    if (this.#parentOf(call, state) !== undefined) return [];
    this.#kept = [...this.#kept, call].slice(-MAX_KEPT);
    return this.#lines(call, { width, depth: call.threadId === undefined ? 0 : 1, unfolded: this.isUnfolded });
  }

  /** The turn ended: returns the finished calls of unfinished subagents. */
  end(width: number): string[] {
    const left = [...this.#running.values()].filter(({ children }) =>
      children.some(({ result }) => result !== undefined),
    );
    this.#running.clear();
    return left.flatMap((call) =>
      call.children.flatMap((child) => this.#lines(child, { width, depth: 1, unfolded: false })),
    );
  }

  /** A new turn has started. */
  forget(): void {
    this.#kept = [];
  }

  /** The calls of the last turn with their inputs and results. */
  lastTurnDetails(width: number): string[] {
    return this.#kept.flatMap((call) => this.#lines(call, { width, depth: 0, unfolded: true }));
  }

  /** One line per running call, with calls of subagents below. */
  running({ width, now, mark }: RunningOptions): string[] {
    const lines = (call: Call, depth: number): string[] => {
      const took = now - call.at < 1_000 ? "" : ` ${duration(now - call.at)}`;
      const indent = "  ".repeat(depth);
      const done = call.children.filter(({ result }) => result !== undefined).length;
      const calls = done === 0 ? "" : ` (${done} done)`;
      const text = oneLine(titleOf(call), width - indent.length - took.length - calls.length - 2);
      return [
        `${indent}${mark} ${text}${color.dim(`${calls}${took}`)}`,
        ...call.children.filter(({ result }) => result === undefined).flatMap((child) => lines(child, depth + 1)),
      ];
    };
    const all = [...this.#running.values()];
    const roots = all.filter((call) => !all.some(({ children }) => children.includes(call)));
    return roots.flatMap((call) => lines(call, call.threadId === undefined ? 0 : 1));
  }

  /** The call that started this call's subagent; undefined on the primary thread, or if that call has ended. */
  #parentOf({ threadId }: Call, { threads }: SessionState): Call | undefined {
    return threadId === undefined ? undefined : this.#running.get(threads[threadId]?.callId ?? "");
  }

  #lines(
    call: Call,
    { width, depth, unfolded }: { readonly width: number; readonly depth: number; readonly unfolded: boolean },
  ): string[] {
    const indent = "  ".repeat(depth);
    return [
      ...outcomeLines(call, { width, indent }),
      ...(unfolded ? detailLines(call, { width, indent: `${indent}  ` }) : []),
      ...call.children.flatMap((child) => this.#lines(child, { width, depth: depth + 1, unfolded })),
    ];
  }
}

function titleOf({ tool, input }: Pick<Call, "tool" | "input">): string {
  return escapeHidden(`${tool} ${describe(input)}`.trim());
}

function outcomeLines(call: Call, { width, indent }: { readonly width: number; readonly indent: string }): string[] {
  const { result, at } = call;
  if (result === undefined) return [`${indent}${color.dim(`· ${oneLine(titleOf(call), width - indent.length - 2)}`)}`];
  const { outcome = "completed", processed_at: end } = result;
  const took = duration(Date.parse(end ?? "") - at);
  const failed = outcome !== "completed";
  const note = failed ? `${outcome} ` : "";
  const text = oneLine(titleOf(call), Math.max(4, width - indent.length - note.length - took.length - 3));
  const mark = failed ? color.red("✗") : color.green("✓");
  const reason =
    outcome === "failed" || outcome === "denied" ? oneLine(reasonIn(result), width - indent.length - 2) : "";
  return [
    `${indent}${mark} ${color.dim(text)} ${color.red(note)}${color.dim(took)}`,
    ...(reason === "" ? [] : [`${indent}  ${reason}`]),
  ];
}

function detailLines(
  { input, result }: Call,
  { width, indent }: { readonly width: number; readonly indent: string },
): string[] {
  const given = Object.keys(input).length === 0 ? "" : stringify(input, { lineWidth: 0 }).trimEnd();
  const answer = result === undefined ? "" : textIn(result).trimEnd();
  const part = (text: string, mark: string): string[] => {
    const lines = text === "" ? [] : escapeHidden(text).replaceAll("\t", "    ").split("\n");
    const shown = lines.slice(0, MAX_LINES).flatMap((line) => wrapRows(line, Math.max(1, width - indent.length - 2)));
    const more = lines.length - MAX_LINES;
    return [...shown, ...(more > 0 ? [`… ${more} more lines`] : [])].map((line) =>
      color.dim(`${indent}${mark} ${line}`.trimEnd()),
    );
  };
  return [...part(given, "›"), ...part(answer, "│")];
}
