import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";

/** A collapsible section. Collapsed content is not rendered, so that a run with many cases stays fast. */
export function Fold({
  title,
  note = "",
  open,
  children,
}: {
  readonly title: ReactNode;
  readonly note?: string;
  readonly open: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(open);
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex items-center gap-1.5 self-start text-sm font-medium hover:text-accent"
        onClick={() => setOpen(!isOpen)}
      >
        <Chevron isOpen={isOpen} />
        {title}
        {note !== "" && <span className="text-xs font-normal text-faint">{note}</span>}
      </button>
      {isOpen && <div className="min-w-0 sm:pl-5">{children}</div>}
    </div>
  );
}

export function Chevron({ isOpen }: { readonly isOpen: boolean }) {
  return (
    <ChevronRight
      aria-hidden
      className={`size-4 shrink-0 text-faint transition-transform ${isOpen ? "rotate-90" : ""}`}
    />
  );
}
