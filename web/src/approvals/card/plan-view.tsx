import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/text/markdown.tsx";
import { canBeLaidOut } from "../../parts/text/markdown-limits.ts";
import { Whole } from "./call-details.tsx";
import { showPlan } from "./change.ts";

/** A plan to approve: rendered, or as source, because rendering hides where links go. */
export function PlanView({ plan }: { readonly plan: string }) {
  const [isWritten, setWritten] = useState(false);
  const text = showPlan(plan);
  if (!canBeLaidOut(text)) return <Unlaid text={text} />;
  return (
    <div className="flex flex-col items-start gap-2">
      <div className="w-full min-w-0">
        {isWritten ? <Whole text={text} /> : <Markdown text={text} instead={Unlaid} />}
      </div>
      <Button small look="quiet" className="max-md:h-10" onClick={() => setWritten(!isWritten)}>
        {isWritten ? "Show formatted" : "Show source"}
      </Button>
    </div>
  );
}

function Unlaid({ text }: { readonly text: string }) {
  return (
    <div className="flex flex-col gap-1">
      <p className="text-xs text-faint">Shown as source: it is too long or too deeply nested to format.</p>
      <Whole text={text} />
    </div>
  );
}
