import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { thousands } from "../../../../src/words/amounts.ts";

/** Parts of an object shown at first. */
const FIRST = 50;
const MAX_TEXT = 500;

/** A JSON value as an expandable tree. */
export function Tree({
  value,
  name,
  depth = 0,
}: {
  readonly value: unknown;
  readonly name?: string;
  readonly depth?: number;
}) {
  const [isOpen, setOpen] = useState(depth < 2);
  const [count, setCount] = useState(FIRST);
  const label = name === undefined ? null : <span className="text-muted">{name}: </span>;
  if (typeof value !== "object" || value === null)
    return (
      <div className="pl-4 font-mono text-xs leading-5 break-words">
        {label}
        <Leaf value={value} />
      </div>
    );
  const parts = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0)
    return (
      <div className="pl-4 font-mono text-xs leading-5">
        {label}
        {open}
        {close}
      </div>
    );
  return (
    <div className="font-mono text-xs leading-5">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex items-center text-left hover:text-accent"
      >
        <ChevronRight aria-hidden className={`size-4 transition-transform ${isOpen ? "rotate-90" : ""}`} />
        {label}
        <span className="text-faint">
          {open}
          {isOpen ? "" : ` ${parts.length} ${close}`}
        </span>
      </button>
      {isOpen && (
        <div className="ml-2 border-l border-line pl-1">
          {parts.slice(0, count).map(([key, part]) => (
            <Tree key={key} name={key} value={part} depth={depth + 1} />
          ))}
          {parts.length > count && (
            <button type="button" className="pl-4 text-accent hover:underline" onClick={() => setCount(count + 500)}>
              {parts.length - count} more
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== "string") return <span className="text-[var(--code-number)]">{String(value)}</span>;
  const shown = isWhole || value.length <= MAX_TEXT ? value : value.slice(0, MAX_TEXT);
  return (
    <span dir="auto" className="whitespace-pre-wrap text-[var(--code-string)]">
      {JSON.stringify(shown)}
      {shown.length < value.length && (
        <button type="button" className="ml-1 text-accent hover:underline" onClick={() => setWhole(true)}>
          … all {thousands(value.length)} characters
        </button>
      )}
    </span>
  );
}
