import { X } from "lucide-react";
import { useSyncExternalStore } from "react";
import { problemOf } from "../api.ts";
import { IconButton } from "./button.tsx";
import { cx } from "./cx.ts";

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
}

const SHOWN_MS = 6_000;
let toasts: readonly Toast[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(changed: readonly Toast[]): void {
  toasts = changed;
  for (const tell of listeners) tell();
}

function add(text: string, isBad: boolean): void {
  const toast = { id: next++, text, isBad };
  set([...toasts, toast].slice(-4));
  // Errors stay until dismissed.
  if (!isBad) setTimeout(() => set(toasts.filter(({ id }) => id !== toast.id)), SHOWN_MS);
}

export function tell(text: string): void {
  add(text, false);
}

/** Reports that an action failed. */
export function tellProblem(thrown: unknown): void {
  add(problemOf(thrown), true);
}

/** At the top: buttons that answer an approval or send a message are at the bottom. */
export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 top-16 z-50 mx-auto flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2"
    >
      {shown.map(({ id, text, isBad }) => (
        <div
          key={id}
          className={cx(
            "pointer-events-auto flex items-start gap-2 rounded-lg border bg-surface py-2 pr-1 pl-3 text-sm shadow-float",
            isBad ? "border-bad/50 text-bad" : "border-line",
          )}
        >
          <p className="min-w-0 flex-1 break-words py-0.5">{text}</p>
          <IconButton label="Dismiss" className="size-6" onClick={() => set(toasts.filter((toast) => toast.id !== id))}>
            <X className="size-3.5" />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
