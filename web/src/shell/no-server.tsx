import { Unplug } from "lucide-react";
import { useSyncExternalStore } from "react";
import { problemOf } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { isAway, onServerChange } from "../server-watch.ts";

export function NoServer({ thrown, onRetry }: { readonly thrown: unknown; readonly onRetry: () => void }) {
  return (
    <main
      role="alert"
      className="mx-auto flex min-h-full max-w-md flex-col items-center justify-center gap-3 p-6 text-center"
    >
      <Unplug className="size-8 text-faint" aria-hidden />
      <h1 className="text-xl font-semibold">The server is not responding</h1>
      <p className="text-sm text-muted">{problemOf(thrown)}</p>
      <p className="text-sm text-muted">
        Start it again with <code className="rounded-sm bg-sunken px-1 font-mono">capstan serve</code>. This page
        retries every few seconds. Pending approvals are kept.
      </p>
      <Button look="primary" onClick={onRetry}>
        Try now
      </Button>
    </main>
  );
}

/** A banner on open pages: their content may be out of date. */
export function ServerAway() {
  const away = useSyncExternalStore(onServerChange, isAway);
  if (!away) return null;
  return (
    <div
      role="status"
      className="sticky top-0 z-20 flex items-center gap-2 border-b border-line bg-waiting-soft px-4 py-1.5 text-sm text-waiting"
    >
      <Unplug className="size-4 shrink-0" aria-hidden />
      The server is not responding. This page may be out of date and will update when the server is back.
    </div>
  );
}
