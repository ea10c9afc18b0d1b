import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { IconButton } from "../button.tsx";
import { cx } from "../cx.ts";
import { tellProblem } from "../toast.tsx";
import { thousands } from "../../../../src/words/amounts.ts";

/** In characters: highlighting longer texts takes too long. */
const MAX_HIGHLIGHTED = 40_000;

/** Code, highlighted once the highlighter is loaded. */
export function Code({
  text,
  language,
  className,
}: {
  readonly text: string;
  readonly language?: string | undefined;
  readonly className?: string;
}) {
  const marked = useHighlighted(text, language);
  return (
    <pre
      // Long lines scroll, so it must be reachable by keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={cx("overflow-x-auto font-mono text-xs leading-5 whitespace-pre", className)}
    >
      <code dir="ltr">{marked ?? text}</code>
    </pre>
  );
}

function useHighlighted(text: string, language: string | undefined): ReactNode {
  const [marked, setMarked] = useState<{ readonly of: string; readonly node: ReactNode }>();
  useEffect(() => {
    if (language === undefined || text.length > MAX_HIGHLIGHTED) return;
    let isWanted = true;
    const mark = async (): Promise<void> => {
      const { highlight } = await import("./highlight.ts");
      if (isWanted) setMarked({ of: text, node: highlight(text, language) });
    };
    // If the highlighter cannot be loaded, code is shown without highlighting.
    mark().catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [text, language]);
  return marked?.of === text ? marked.node : undefined;
}

/** Long text, collapsed to its first lines. */
export function FoldedText({
  text,
  language,
  lines = 14,
  end = false,
}: {
  readonly text: string;
  readonly language?: string | undefined;
  readonly lines?: number;
  /** Show the last lines instead: the end of a command's output matters most. */
  readonly end?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const all = text.split("\n");
  const isFolded = !isOpen && (all.length > lines || text.length > lines * 400);
  const kept = end ? all.slice(-lines) : all.slice(0, lines);
  const shown = isFolded ? kept.map((line) => line.slice(0, 2_000)).join("\n") : text;
  return (
    <div>
      <Code text={shown} language={language} />
      {(isFolded || isOpen) && (
        <button
          type="button"
          onClick={() => setOpen(!isOpen)}
          className="mt-1 text-xs font-medium text-accent hover:underline"
        >
          {isOpen ? "Show less" : all.length > lines ? `Show all ${thousands(all.length)} lines` : "Show all"}
        </button>
      )}
    </div>
  );
}

export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1_500);
    } catch (thrown) {
      tellProblem(thrown);
    }
  };
  return (
    <IconButton label={isDone ? "Copied" : label} className="size-6" onClick={() => void copy()}>
      {isDone ? <Check className="size-3.5" /> : <Copy className="size-3.5" />}
    </IconButton>
  );
}

/** The highlighter's language for a file. */
export function languageOf(path: string): string | undefined {
  const end = /\.([\w+]+)$/.exec(path)?.[1]?.toLowerCase();
  if (end === undefined) return undefined;
  return ENDINGS[end] ?? end;
}

const ENDINGS: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  py: "python",
  rb: "ruby",
  rs: "rust",
  md: "markdown",
  yml: "yaml",
  sh: "bash",
  h: "c",
  cc: "cpp",
  htm: "xml",
  html: "xml",
  svg: "xml",
};
