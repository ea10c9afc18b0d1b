import {
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { cx } from "./cx.ts";

const CONTROL =
  "rounded-md border border-line-strong/60 bg-surface px-2.5 text-sm text-text placeholder:text-faint hover:border-line-strong disabled:opacity-60";

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** What is wrong with what was written. */
  readonly problem?: string | undefined;
  readonly children: (attributes: {
    id: string;
    "aria-describedby": string | undefined;
    "aria-invalid": boolean;
  }) => ReactNode;
}

/** A control with its name, what it is for, and what is wrong with it. */
export function Field({ label, hint, problem, children }: FieldProps) {
  const id = useId();
  const about = problem ?? hint;
  const describedBy = about === undefined ? undefined : `${id}-about`;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({ id, "aria-describedby": describedBy, "aria-invalid": problem !== undefined })}
      {about !== undefined && (
        <p id={describedBy} className={cx("text-xs", problem === undefined ? "text-faint" : "text-bad")}>
          {about}
        </p>
      )}
    </div>
  );
}

export function Input({
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { readonly ref?: Ref<HTMLInputElement> }) {
  return <input {...rest} className={cx(CONTROL, "h-8 w-full", className)} />;
}

/** `fit`: as wide as what it holds. */
export function Select({
  fit = false,
  className,
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & { readonly fit?: boolean }) {
  return <select {...rest} className={cx(CONTROL, "h-8 pr-7", !fit && "w-full", className)} />;
}

export function TextArea({
  className,
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { readonly ref?: Ref<HTMLTextAreaElement> }) {
  return <textarea {...rest} className={cx(CONTROL, "w-full py-1.5 leading-5", className)} />;
}
