import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { CapstanApiError } from "../../../../src/client/index.ts";
import { problemOf } from "../../api.ts";
import { Button } from "../button.tsx";
import { duration } from "../../../../src/words/amounts.ts";

/** An error, in the server's words, which say what to do next. */
export function Problem({
  thrown,
  title = "Something went wrong",
  onRetry,
  children,
}: {
  readonly thrown: unknown;
  readonly title?: string | undefined;
  readonly onRetry?: () => void;
  readonly children?: ReactNode;
}) {
  const { requestId, retryAfter } = thrown instanceof CapstanApiError ? thrown : {};
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/40 bg-bad-soft p-3 text-sm">
      <CircleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-bad">{title}</p>
        <p className="break-words text-text">{problemOf(thrown)}</p>
        {retryAfter !== undefined && <p>Try again in {duration(retryAfter * 1_000)}.</p>}
        {requestId !== undefined && <p className="mt-1 font-mono text-xs text-muted">{requestId}</p>}
        {children}
        {onRetry !== undefined && (
          <Button small className="mt-2" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}
