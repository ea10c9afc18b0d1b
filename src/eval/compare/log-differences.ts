import { diffArrays } from "diff";
import type { comparableLog } from "./comparable-log.ts";

/** One difference between two logs of the same case. */
export interface LogDifference {
  /** `main`, or the subagent's name. */
  readonly thread: string;
  /** The event's number in its thread, from 1; in the second log if the first does not have it. */
  readonly index: number;
  readonly type: string;
  /** The field, such as `content.0.text`; empty if the whole event is missing or new. */
  readonly path: string;
  /** Absent if there is no value. */
  readonly before?: unknown;
  readonly after?: unknown;
}

type Log = ReturnType<typeof comparableLog>;

interface PositionedEvent {
  readonly index: number;
  readonly event: Fields;
}
type Fields = Readonly<Record<string, unknown>>;

/** All differences of the second log, by thread and in the order of the log. */
export function logDifferences(before: Log, after: Log): readonly LogDifference[] {
  const threads = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return threads.flatMap((thread) => {
    const [old, now] = [lanesOf(before[thread] ?? []), lanesOf(after[thread] ?? [])];
    return [...new Set([...old.keys(), ...now.keys()])]
      .flatMap((lane) => inLane(old.get(lane) ?? [], now.get(lane) ?? []))
      .map((difference) => ({ thread, ...difference }))
      .toSorted((a, b) => a.index - b.index);
  });
}

/** Splits parallel events into lanes: only the order within a lane matters. */
function lanesOf(events: readonly object[]): ReadonlyMap<string, readonly PositionedEvent[]> {
  const placed = events.map((event, index): PositionedEvent => ({ index: index + 1, event: event as Fields }));
  return Map.groupBy(placed, ({ event }) => laneOf(event));
}

function laneOf({ type, call_id: call }: Fields): string {
  if (typeof call === "string") return `call ${call}`;
  const [family = ""] = String(type).split(".");
  // From the gateway, the engine and people; the rest comes from the session.
  return ["span", "agent", "user"].includes(family) || type === "session.error" ? family : "session";
}

type Found = Omit<LogDifference, "thread">;

/** Pairs events of the same type, as far as their order allows. */
function inLane(before: readonly PositionedEvent[], after: readonly PositionedEvent[]): Found[] {
  const found: Found[] = [];
  let [old, now] = [0, 0];
  for (const { added, removed, count = 0 } of diffArrays(before.map(typeOf), after.map(typeOf)))
    for (let step = 0; step < count; step += 1) {
      const [one, other] = [added ? undefined : before[old], removed ? undefined : after[now]];
      if (one !== undefined) old += 1;
      if (other !== undefined) now += 1;
      found.push(...between(one, other));
    }
  return found;
}

function typeOf({ event }: PositionedEvent): string {
  return String(event["type"]);
}

function between(one: PositionedEvent | undefined, other: PositionedEvent | undefined): Found[] {
  const there = one ?? other;
  if (there === undefined) return [];
  const about = { index: there.index, type: typeOf(there) };
  if (other === undefined) return [{ ...about, path: "", before: there.event }];
  if (one === undefined) return [{ ...about, path: "", after: there.event }];
  return inValue(one.event, other.event, []).map((difference) => ({ ...about, ...difference }));
}

function inValue(
  before: unknown,
  after: unknown,
  path: readonly string[],
): Pick<LogDifference, "path" | "before" | "after">[] {
  if (isFields(before) && isFields(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => inValue(before[key], after[key], [...path, key]));
  }
  return Object.is(before, after) ? [] : [{ path: path.join("."), before, after }];
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}
