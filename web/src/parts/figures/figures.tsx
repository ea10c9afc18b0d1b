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

/** Sets the tooltip when the pointer enters: most times are never pointed at. */
function tellDate(event: PointerEvent<HTMLTimeElement>): void {
  const { currentTarget } = event;
  currentTarget.title = clock().format(Date.parse(currentTarget.dateTime));
}

/** Older moments are shown by their date. */
const RECENT_MS = 2_592_000_000;

/** How long ago, with the date in the tooltip. */
export function Ago({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  const now = useNow(15_000);
  return (
    <time dateTime={at} onPointerEnter={tellDate}>
      {now - ms < RECENT_MS ? ago(now - ms) : dayOnly().format(ms)}
    </time>
  );
}

/** The time of day, with the date if it is not today. */
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

/** The server's time, updated every `everyMs` milliseconds. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
