import type { ReactNode } from "react";

/** Downloads a session's log. The browser streams it to a file, so a long log never fills the page's memory. */
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
