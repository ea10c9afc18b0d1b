import { type PointerEvent, useEffect, useState } from "react";
import { serverNow } from "../../server-watch.ts";
import { ago } from "../../../../src/words/amounts.ts";

/** Creates a value on first use: the first date format of a page costs more time than a whole list of them. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const dayOnly = once(() => new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", year: "numeric" }));
const clock = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }));
const clockOfDay = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" }));
const clockShort = once(
  () => new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" }),
);

/** The date of a moment, for its tooltip: written when somebody points at it, which nobody does to most of them. */
function tellDate(event: PointerEvent<HTMLTimeElement>): void {
  const { currentTarget } = event;
  currentTarget.title = clock().format(Date.parse(currentTarget.dateTime));
}

/** Older moments are shown by their date. */
const RECENT_MS = 2_592_000_000;

/** A moment, told as how long ago it was; its date stands in the tooltip. */
export function Ago({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  const now = useNow(15_000);
  return (
    <time dateTime={at} onPointerEnter={tellDate}>
      {now - ms < RECENT_MS ? ago(now - ms) : dayOnly().format(ms)}
    </time>
  );
}

/** A moment of a day's work: hour, minute, second; with its date when that is not today. */
export function Clock({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  const isToday = new Date(ms).toDateString() === new Date(serverNow()).toDateString();
  return (
    <time dateTime={at} onPointerEnter={tellDate}>
      {(isToday ? clockShort : clockOfDay)().format(ms)}
    </time>
  );
}

export function When({ at }: { readonly at: string }) {
  return <time dateTime={at}>{clock().format(Date.parse(at))}</time>;
}

/** The time as the server has it, told anew every so many milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
