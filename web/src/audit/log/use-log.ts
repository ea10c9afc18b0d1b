import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { api } from "../../api.ts";
import { FilteredLog } from "./filtered-log.ts";
import { type Group, threadOf, typesOf } from "../groups.ts";
import type { LogRows, Read } from "./log-reader.ts";
import { WholeLog } from "./whole-log.ts";

export interface Filter {
  /** Empty for all kinds. */
  readonly groups: ReadonlySet<Group>;
  /** Null for the main thread, undefined for all threads. */
  readonly thread: string | null | undefined;
}

/** In characters: a row shows no more of a text. */
const CLIP = 400;

/** The log of a session as rows, loaded as they become visible. */
export function useLog(id: string, head: number, filter: Filter, chosen: number): LogRows {
  // Where a filter starts searching; it does not restart with every step.
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

/** A debounced value: stepping quickly loads only where the person stops. */
export function useSettled<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
