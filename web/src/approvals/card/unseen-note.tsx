import { EyeOff } from "lucide-react";
import { Button } from "../../parts/button.tsx";
import { useCard } from "./card-position.ts";

/** Shown next to the Allow button: the part that would be allowed unseen. */
export function Unseen() {
  const { unseen, showAll } = useCard();
  if (unseen === undefined) return null;
  return (
    <p className="flex basis-full flex-wrap items-center gap-x-2 gap-y-1 text-sm text-waiting">
      <EyeOff className="size-4 shrink-0" aria-hidden />
      {unseen}.
      <Button small className="max-md:h-10" onClick={showAll}>
        Show all
      </Button>
    </p>
  );
}
