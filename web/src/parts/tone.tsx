import type { ReactNode } from "react";
import { cx } from "./cx.ts";

/** The meaning of colors throughout the console. */
export type Tone = "running" | "waiting" | "good" | "bad" | "accent" | "quiet";

/** Background and text colors. */
export const TONE_LOOKS: Record<Tone, string> = {
  running: "bg-running-soft text-running",
  waiting: "bg-waiting-soft text-waiting",
  good: "bg-good-soft text-good",
  bad: "bg-bad-soft text-bad",
  accent: "bg-accent-soft text-accent",
  quiet: "bg-sunken text-muted",
};

const DOTS: Record<Tone, string> = {
  running: "bg-running pulse-dot",
  waiting: "bg-waiting",
  good: "bg-good",
  bad: "bg-bad",
  accent: "bg-accent",
  quiet: "bg-faint",
};

/** A short label for a state. The color only repeats the text. */
export function Pill({
  tone,
  dot = false,
  children,
  className,
}: {
  readonly tone: Tone;
  readonly dot?: boolean;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <span
      className={cx(
        "inline-flex h-5 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap",
        TONE_LOOKS[tone],
        className,
      )}
    >
      {dot && <Dot tone={tone} />}
      {children}
    </span>
  );
}

function Dot({ tone }: { readonly tone: Tone }) {
  return <span aria-hidden className={cx("size-1.5 shrink-0 rounded-full", DOTS[tone])} />;
}
