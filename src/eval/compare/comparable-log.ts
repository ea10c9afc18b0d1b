import type { LoggedEvent } from "../../core/events/events.ts";
import { withoutVarying } from "../../core/varying/varying-rules.ts";
import { threadNames } from "../trial/facts.ts";

/** Values that differ in every run, and what depends on them. */
const VARYING = new Set([
  "seq",
  "processed_at",
  "created_at",
  "duration_ms",
  "elapsed_ms",
  "pid",
  "billing",
  "expires_at",
  "usage",
  "model_usage",
  "cwd",
  "sdk_version",
  "engine_version",
  "retry_after_ms",
  "whole_output",
  "estimate",
]);
/** Their timing varies: progress of calls, and when states were saved. */
const LEFT_OUT = new Set([
  "capstan.tool_progress",
  "session.usage",
  "session.thread_status_running",
  "session.thread_status_idle",
]);
const ID =
  /\b(?:[a-z]{3,6}_[0-9a-f]{16,}(?:_a[0-9a-f]{16,32})?|a[0-9a-f]{16}(?:[0-9a-f]{16})?|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{40,64})\b/g;

/**
 * Makes a log comparable with another one of the same case: split by thread, because subagents run in parallel, and
 * without ids, times and paths.
 */
export function comparableLog(
  events: readonly LoggedEvent[],
  places: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly object[]>> {
  const nameOf = threadNames(events);
  const threads = Map.groupBy(
    events.filter(({ type }) => !LEFT_OUT.has(type)),
    (event) => ("session_thread_id" in event ? (event.session_thread_id ?? null) : null),
  );
  const named = Map.groupBy(threads.entries(), ([thread]) => nameOf(thread));
  return Object.fromEntries(
    [...named].flatMap(([name, all]) =>
      all
        .map(([, logged]) => logged.map((event) => comparable(event, { places, isResult: isResult(event) }) as object))
        // Several subagents of the same name may start in any order; their events tell them apart.
        .map((log) => [JSON.stringify(log), log] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([, log], index) => [index === 0 ? name : `${name} ${index + 1}`, log]),
    ),
  );
}

/** Only in tool results: texts of people and the model are compared. */
function isResult({ type }: LoggedEvent): boolean {
  return type === "agent.tool_result" || type === "agent.mcp_tool_result";
}

interface Around {
  readonly places: Readonly<Record<string, string>>;
  readonly isResult: boolean;
}

function comparable(value: unknown, around: Around): unknown {
  const { places } = around;
  if (typeof value === "string") {
    const placed = Object.entries(places)
      .toSorted(([, a], [, b]) => b.length - a.length)
      .reduce((text, [name, place]) => text.replaceAll(place, `<${name}>`), value);
    return (around.isResult ? withoutVarying(placed) : placed)
      .replace(ID, "<id>")
      .replace(/\b(duration_ms|subagent_tokens): \d+/g, "$1: <number>")
      .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "<time>");
  }
  if (Array.isArray(value)) return value.map((one) => comparable(one, around));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !VARYING.has(key))
      .map(([key, one]) => [key, comparable(one, around)]),
  );
}
