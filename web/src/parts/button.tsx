import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";
import { cx } from "./cx.ts";

type Look = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Record<Look, string> = {
  primary: "bg-accent text-on-accent hover:bg-accent-strong border-transparent",
  plain: "bg-surface text-text border-line hover:border-line-strong hover:bg-sunken",
  quiet: "bg-transparent text-muted border-transparent hover:bg-sunken hover:text-text",
  danger: "bg-surface text-bad border-line hover:border-bad hover:bg-bad-soft",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: Look;
  readonly small?: boolean;
  /** The key for the same action, shown beside the label. */
  readonly hint?: string;
  readonly icon?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({ look = "plain", small = false, hint, icon, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={cx(
        "inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors",
        "disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:opacity-50",
        small ? "h-7 px-2 text-sm" : "h-8 px-3 text-sm",
        LOOKS[look],
        className,
      )}
    >
      {icon}
      {children}
      {hint !== undefined && <Key>{hint}</Key>}
    </button>
  );
}

/** A button with only an icon; `label` is its accessible name. */
export function IconButton({
  label,
  className,
  ...rest
}: Omit<ButtonProps, "look" | "hint" | "icon" | "aria-label"> & { readonly label: string }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={cx(
        "inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted transition-colors",
        "hover:bg-sunken hover:text-text disabled:cursor-not-allowed disabled:opacity-50",
        className,
      )}
    />
  );
}

/** A key of the keyboard. */
export function Key({ children }: { readonly children: ReactNode }) {
  return (
    <kbd className="rounded-sm border border-current/25 px-1 font-mono text-[0.6875rem] leading-4 opacity-80 max-sm:hidden">
      {children}
    </kbd>
  );
}
