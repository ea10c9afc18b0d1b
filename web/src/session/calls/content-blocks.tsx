import { FileText } from "lucide-react";
import { FoldedText } from "../../parts/text/code.tsx";

/** Content blocks from the log: text, images, documents. Nothing is loaded from other servers. */
interface Block {
  readonly type: string;
  readonly text?: string;
  readonly title?: string | null | undefined;
  readonly source?: unknown;
}

const SHOWN_IMAGES = /^image\/(png|jpeg|gif|webp)$/;

export function ContentBlocks({
  content,
  isPlain = false,
}: {
  readonly content: readonly Block[];
  readonly isPlain?: boolean;
}) {
  return (
    <div className="flex flex-col gap-2">
      {content.map((block, index) => (
        // The blocks of an event keep their order.
        // oxlint-disable-next-line react/no-array-index-key
        <BlockView key={index} block={block} isPlain={isPlain} />
      ))}
    </div>
  );
}

function BlockView({ block, isPlain }: { readonly block: Block; readonly isPlain: boolean }) {
  if (block.type === "text")
    return isPlain ? (
      <p dir="auto" className="break-words whitespace-pre-wrap">
        {block.text}
      </p>
    ) : (
      <FoldedText text={block.text ?? ""} />
    );
  const source = (block.source ?? {}) as {
    readonly type?: string;
    readonly data?: string;
    readonly media_type?: string;
    readonly url?: string;
  };
  if (block.type === "image" && source.type === "base64" && SHOWN_IMAGES.test(source.media_type ?? ""))
    return source.data === "" || source.data === undefined ? (
      <Placeholder text="Image too large to show here" />
    ) : (
      <img
        src={`data:${source.media_type};base64,${source.data}`}
        alt="Attached to the message"
        className="max-h-80 max-w-full rounded-md border border-line object-contain"
      />
    );
  if (block.type === "redacted") return <Placeholder text="Removed: it contained a secret or was erased" />;
  if (block.type === "image") return <Placeholder text={`Image: ${source.url ?? source.type ?? "unknown"}`} />;
  return (
    <Placeholder
      text={`${block.title ?? "Document"} (${source.media_type ?? source.url ?? source.type ?? block.type})`}
    />
  );
}

function Placeholder({ text }: { readonly text: string }) {
  return (
    <span className="inline-flex items-center gap-1.5 self-start rounded-md bg-sunken px-2 py-1 text-xs text-muted">
      <FileText className="size-3.5" aria-hidden />
      {text}
    </span>
  );
}
