import { useId } from "react";
import { setSingleKeys, useSingleKeys } from "./single-keys.ts";

/** A letter that comes from dictation, or from a hand that slips, is not to do anything. */
export function SingleKeys() {
  const isOn = useSingleKeys();
  const id = useId();
  return (
    <div className="flex items-start gap-2 text-sm">
      <input
        id={id}
        type="checkbox"
        className="mt-0.5 size-4 accent-accent"
        aria-describedby={`${id}-about`}
        checked={isOn}
        onChange={(event) => setSingleKeys(event.target.checked)}
      />
      <div>
        <label htmlFor={id} className="font-medium">
          Single keys
        </label>
        <p id={`${id}-about`} className="text-xs text-muted">
          Letters and signs do something by themselves. Without this only Enter, Escape and other named keys do. Kept in
          this browser.
        </p>
      </div>
    </div>
  );
}
