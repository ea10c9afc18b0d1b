import { ArrowUp } from "lucide-react";
import { Button } from "../../parts/button.tsx";

/** Shown at the top while the log has earlier events. */
export function EarlierBar({
  state,
  onLoad,
}: {
  readonly state: "rest" | "busy" | "failed";
  readonly onLoad: () => void;
}) {
  return (
    <div className="pointer-events-none absolute inset-x-0 top-2 flex justify-center">
      <Button
        small
        className="pointer-events-auto shadow-float"
        icon={<ArrowUp className="size-3.5" aria-hidden />}
        disabled={state === "busy"}
        onClick={onLoad}
      >
        {state === "busy" ? "Loading…" : state === "failed" ? "Loading failed. Try again" : "Load earlier"}
      </Button>
    </div>
  );
}
