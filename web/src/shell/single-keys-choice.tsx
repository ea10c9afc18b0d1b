import { useId } from "react";
import { setSingleKeys, useSingleKeys } from "./single-keys.ts";

/** Turns off single-key shortcuts, for dictation and accidental key presses. */
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
          Single-key shortcuts
        </label>
        <p id={`${id}-about`} className="text-xs text-muted">
          Turn off to ignore letters and symbols; Enter, Escape and other named keys still work. Saved in this browser.
        </p>
      </div>
    </div>
  );
}
