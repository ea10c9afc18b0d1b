import { type ReactNode, useId } from "react";
import { cx } from "../cx.ts";

/** A segmented choice. Arrow keys move between options, as with radio buttons. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: ReactNode }[];
  readonly onChoose: (value: Value) => void;
}) {
  const name = useId();
  return (
    <fieldset className="flex max-w-full flex-wrap gap-0.5 rounded-md border border-line bg-surface p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <label
          key={option.value}
          className={cx(
            "relative flex h-7 cursor-pointer items-center gap-1.5 rounded-sm px-2.5 text-sm font-medium transition-colors",
            "has-focus-visible:outline-2 has-focus-visible:outline-offset-1 has-focus-visible:outline-accent",
            option.value === value ? "bg-accent-soft text-accent" : "text-muted hover:bg-sunken hover:text-text",
          )}
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
            className="absolute inset-0 cursor-pointer appearance-none opacity-0"
          />
          {option.label}
        </label>
      ))}
    </fieldset>
  );
}
