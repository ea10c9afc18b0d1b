import type { ReactNode } from "react";

/** A session's log as a file. The browser loads it by itself: however long it is, it never stands in the page. */
export function DownloadLink({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <a
      href={`/api/sessions/${encodeURIComponent(id)}/export`}
      download={`${id}.jsonl`}
      className="inline-flex h-7 items-center gap-1.5 rounded-md px-2 text-sm font-medium text-muted hover:bg-sunken hover:text-text"
    >
      {children}
    </a>
  );
}
