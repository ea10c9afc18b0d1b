import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { newSince } from "../approvals/inbox.ts";
import { isSeen, noticesOf } from "../approvals/notify/notices.ts";
import { notify, notifyWish } from "../approvals/notify/notify.ts";
import { useSeenApprovals } from "../approvals/pending.ts";
import { setTitlePrefix } from "../parts/page.tsx";

/** Shows the number of pending approvals outside the page: in the title, on the app icon and in notifications. */
export function TitleBadge() {
  const { data: pending } = useSeenApprovals();
  const [path, navigate] = useLocation();
  const known = useRef<ReadonlySet<string>>(undefined);
  const count = pending?.length ?? 0;
  useEffect(() => {
    setTitlePrefix(count === 0 ? "" : `(${count}) `);
    // Only visible if the page is installed as an app.
    if ("setAppBadge" in navigator) navigator.setAppBadge(count).catch(() => {});
  }, [count]);
  useEffect(() => {
    if (pending === undefined) return;
    const hasFocus = document.hasFocus() && !document.hidden;
    const fresh = newSince(known.current, pending).filter((one) => !isSeen(one, { path, hasFocus }));
    known.current = new Set([...(known.current ?? []), ...pending.map(({ id }) => id)]);
    if (notifyWish() === "on") for (const notice of noticesOf(fresh)) notify(notice, navigate);
  }, [pending, path, navigate]);
  return null;
}
