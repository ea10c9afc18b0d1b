import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { api } from "../../api.ts";
import { FilteredLog } from "./filtered-log.ts";
import { type Group, threadOf, typesOf } from "../groups.ts";
import type { LogRows, Read } from "./log-reader.ts";
import { WholeLog } from "./whole-log.ts";

export interface Filter {
  /** None of them stands for all. */
  readonly groups: ReadonlySet<Group>;
  /** Null for the main line, undefined for all of them. */
  readonly thread: string | null | undefined;
}

/** In characters: one line shows no more of a text. */
const CLIP = 400;

/** The log of a session as rows, read as far as they are looked at. */
export function useLog(id: string, head: number, filter: Filter, chosen: number): LogRows {
  // Where a filter begins to look; it does not begin anew with every step.
  const from = useRef(chosen);
  useEffect(() => {
    from.current = chosen;
  });
  const firstHead = useRef(head);
  const { groups, thread } = filter;
  const types = typesOf(groups);
  const log = useMemo((): LogRows => {
    const read: Read = async (after, upTo) =>
      (await api.sessions.page(id, { after, up_to: upTo, limit: upTo - after, clip: CLIP, types })).data;
    if (types === undefined && thread === undefined) return new WholeLog(read, firstHead.current);
    return new FilteredLog(
      read,
      firstHead.current,
      (event) => thread === undefined || threadOf(event) === thread,
      from.current,
    );
  }, [id, types, thread]);
  useSyncExternalStore(log.subscribe, log.version);
  useEffect(() => {
    firstHead.current = head;
    log.grow(head);
  }, [log, head]);
  return log;
}

/** A value that has stayed the same for a moment: whoever steps quickly asks for what they stop at. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
