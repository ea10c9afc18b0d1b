import { type ComponentProps, createContext, type ReactNode, use, useId } from "react";
import { cx } from "../cx.ts";

const CONTROL =
  "rounded-md border border-line-strong/60 bg-surface px-2.5 text-sm text-text placeholder:text-faint hover:border-line-strong disabled:opacity-60";

/** Ties a field's control to its label. Controls outside fields need their own label. */
const Tie = createContext<{ id?: string; "aria-describedby"?: string | undefined; "aria-invalid"?: boolean }>({});

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with the value. */
  readonly problem?: string | undefined;
  /** One of the controls below. */
  readonly children: ReactNode;
}

/** A control with its label, hint and problem. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const about = problem ?? hint;
  const describedBy = about === undefined ? undefined : `${id}-about`;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <Tie value={{ id, "aria-describedby": describedBy, "aria-invalid": problem !== undefined }}>{children}</Tie>
      {about !== undefined && (
        <p id={describedBy} className={cx("text-xs", problem === undefined ? "text-faint" : "text-bad")}>
          {about}
        </p>
      )}
    </div>
  );
}

export function Input({ className, ...rest }: ComponentProps<"input">) {
  return <input {...use(Tie)} {...rest} className={cx(CONTROL, "h-8 w-full", className)} />;
}

/** `fit`: as wide as its content. */
export function Select({ fit = false, className, ...rest }: ComponentProps<"select"> & { readonly fit?: boolean }) {
  return <select {...use(Tie)} {...rest} className={cx(CONTROL, "h-8 pr-7", !fit && "w-full", className)} />;
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
  return <textarea {...use(Tie)} {...rest} className={cx(CONTROL, "w-full py-1.5 leading-5", className)} />;
}
