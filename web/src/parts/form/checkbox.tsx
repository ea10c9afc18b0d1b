import type { ReactNode } from "react";
import { cx } from "../cx.ts";

/** A checkbox with its label. */
export function Checkbox({
  isOn,
  onChange,
  className,
  children,
}: {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    <label className={cx("flex items-center gap-2 text-sm", className)}>
      <input
        type="checkbox"
        className="accent-accent"
        checked={isOn}
        onChange={(event) => onChange(event.target.checked)}
      />
      {children}
    </label>
  );
}
