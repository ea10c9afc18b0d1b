import { ImageOff } from "lucide-react";
import { type ComponentType, memo } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { Attempt } from "../failure/attempt.tsx";
import { Code, CopyButton, FoldedText } from "./code.tsx";
import { canBeLaidOut } from "./markdown-limits.ts";

/**
 * Renders a model's Markdown. HTML is shown as text. Remote images are never loaded: their URLs could leak what the model
 * has read. Links show their target and open in a new tab.
 */
const COMPONENTS: Components = {
  a: ({ href, children }) =>
    href === undefined ? (
      // An unsafe link is reduced to its text.
      <span>{children}</span>
    ) : (
      <a
        href={href}
        title={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        className="text-accent underline underline-offset-2"
      >
        {children}
      </a>
    ),
  img: ({ src, alt }) => (
    <span
      className="inline-flex items-center gap-1 rounded-sm bg-sunken px-1 text-xs text-muted"
      title={typeof src === "string" ? src : undefined}
    >
      <ImageOff className="size-3" aria-hidden />
      image not loaded: {alt === undefined || alt === "" ? "no description" : alt}
    </span>
  ),
  pre: ({ children }) => <>{children}</>,
  code: ({ className, children }) => {
    const text = textOf(children);
    const language = /language-(\S+)/.exec(className ?? "")?.[1];
    if (language === undefined && !text.includes("\n"))
      return <code className="rounded-sm bg-sunken px-1 py-px font-mono text-[0.9em]">{children}</code>;
    return <CodeBlock text={text.replace(/\n$/, "")} language={language} />;
  },
  table: ({ children }) => (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className="my-2 overflow-x-auto" tabIndex={0} role="region" aria-label="Table">
      <table className="text-sm [&_td]:border [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:border-line [&_th]:px-2 [&_th]:py-1 [&_th]:text-left">
        {children}
      </table>
    </div>
  ),
  // Headings in a message are not headings of the page.
  h1: ({ children }) => <p className="mt-3 mb-1 text-lg font-semibold">{children}</p>,
  h2: ({ children }) => <p className="mt-3 mb-1 text-lg font-semibold">{children}</p>,
  h3: ({ children }) => <p className="mt-2 mb-1 font-semibold">{children}</p>,
  h4: ({ children }) => <p className="mt-2 mb-1 font-semibold">{children}</p>,
  input: ({ checked }) => <span aria-hidden>{checked === true ? "☑ " : "☐ "}</span>,
};

export const Markdown = memo(function Markdown({
  text,
  instead: Instead = AsWritten,
}: {
  readonly text: string;
  /** Renders texts that cannot be formatted. */
  readonly instead?: ComponentType<{ readonly text: string }>;
}) {
  if (!canBeLaidOut(text)) return <Instead text={text} />;
  return (
    <Attempt instead={<Instead text={text} />}>
      <LaidOut text={text} />
    </Attempt>
  );
});

function AsWritten({ text }: { readonly text: string }) {
  return (
    <div dir="auto" className="min-w-0">
      <p dir="ltr" className="text-xs text-faint">
        Shown as source: it is too long or too deeply nested to format.
      </p>
      <FoldedText text={text} />
    </div>
  );
}

function LaidOut({ text }: { readonly text: string }) {
  return (
    <div
      dir="auto"
      className="min-w-0 break-words [&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3 [&_blockquote]:text-muted [&_hr]:my-3 [&_hr]:border-line [&_li]:my-0.5 [&_ol]:my-1.5 [&_ol]:list-decimal [&_ol]:pl-5 [&_p]:my-1.5 [&_ul]:my-1.5 [&_ul]:list-disc [&_ul]:pl-5 [&>:first-child]:mt-0 [&>:last-child]:mb-0"
    >
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={safeAddress}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

const PLUGINS = [remarkGfm];

/** Only URLs that cannot run a script on click. */
function safeAddress(url: string): string | undefined {
  return /^(https?:|mailto:)/i.test(url) ? url : undefined;
}

function CodeBlock({ text, language }: { readonly text: string; readonly language?: string | undefined }) {
  return (
    <div className="my-2 overflow-hidden rounded-md border border-line bg-sunken/60">
      <div className="flex h-7 items-center justify-between border-b border-line pr-1 pl-3 text-xs text-faint">
        {language ?? "text"}
        <CopyButton text={text} label="Copy code" />
      </div>
      <Code text={text} language={language} className="px-3 py-2" />
    </div>
  );
}

function textOf(children: unknown): string {
  if (typeof children === "string") return children;
  return Array.isArray(children) ? children.map(textOf).join("") : "";
}
