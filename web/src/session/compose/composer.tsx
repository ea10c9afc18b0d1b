import { CircleStop, Paperclip, SendHorizontal, X } from "lucide-react";
import { type ReactNode, type Ref, useCallback, useImperativeHandle, useRef } from "react";
import type { MessageInput } from "../../../../src/client/index.ts";
import { isUnanswered } from "../../api.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { tellProblem } from "../../parts/toast.tsx";
import { attachmentOf, messageOf } from "./attachments.ts";
import { changeDraft, inOrder, useMessageDraft } from "./draft.ts";
import { size as sizeText } from "../../../../src/words/amounts.ts";

export interface ComposerHandle {
  focus(): void;
  attach(files: readonly File[]): void;
}

/** On touch keyboards Enter inserts a line break: there is no Shift Enter. */
const isTouched = matchMedia("(pointer: coarse)").matches;

/** The message field. A message sent while the agent works is queued. */
export function Composer({
  ref,
  sessionId,
  isRunning,
  disabledBecause,
  onSend,
  onInterrupt,
  onEscape,
  tools,
}: {
  readonly ref?: Ref<ComposerHandle>;
  readonly sessionId: string;
  readonly isRunning: boolean;
  /** Why messages cannot be sent. */
  readonly disabledBecause: string | undefined;
  readonly onSend: (content: MessageInput) => Promise<void>;
  readonly onInterrupt: () => void;
  readonly onEscape: () => void;
  /** Controls beside the buttons: model and mode. */
  readonly tools?: ReactNode;
}) {
  const { text, attached, reading, sending } = useMessageDraft(sessionId);
  const area = useRef<HTMLTextAreaElement>(null);
  const chooser = useRef<HTMLInputElement>(null);
  const isEmpty = text.trim() === "" && attached.length === 0;
  const isOff = disabledBecause !== undefined;
  const isReady = !isEmpty && !isOff && sending === undefined && reading === 0;
  const attach = useCallback(
    async (files: readonly File[]): Promise<void> => {
      changeDraft(sessionId, (before) => ({ reading: before.reading + 1 }));
      for (const file of files)
        try {
          const attachment = await attachmentOf(file);
          changeDraft(sessionId, (before) => ({ attached: [...before.attached, attachment] }));
        } catch (thrown) {
          tellProblem(thrown);
        }
      changeDraft(sessionId, (before) => ({ reading: before.reading - 1 }));
    },
    [sessionId],
  );
  useImperativeHandle(ref, () => ({ focus: () => area.current?.focus(), attach: (files) => void attach(files) }), [
    attach,
  ]);
  const send = async (): Promise<void> => {
    if (!isReady) return;
    // Empty at once, so that the next message can be written.
    changeDraft(sessionId, () => ({ text: "", attached: [], sending: { text, attached } }));
    try {
      await onSend(messageOf(text, attached));
      changeDraft(sessionId, () => ({ sending: undefined }));
    } catch (thrown) {
      tellProblem(warnIfSent(thrown));
      // Restore a message that could not be sent, before any text written since.
      changeDraft(sessionId, (since) => ({
        text: inOrder(text, since.text),
        attached: [...attached, ...since.attached],
        sending: undefined,
      }));
    }
  };
  return (
    <form
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      className="mx-auto w-full max-w-3xl px-4 pb-3"
    >
      <div className="rounded-lg border border-line-strong/60 bg-surface shadow-card focus-within:border-accent">
        {attached.length > 0 && (
          <ul className="flex flex-wrap gap-1 px-2 pt-2" aria-label="Attachments">
            {attached.map(({ id, name, size }) => (
              <li key={id} className="flex items-center gap-1 rounded-md bg-sunken py-0.5 pr-0.5 pl-2 text-xs">
                <span dir="auto" className="max-w-48 truncate">
                  {name}
                </span>
                <span className="text-faint">{sizeText(size)}</span>
                <IconButton
                  label={`Remove ${name}`}
                  className="size-5"
                  onClick={() =>
                    changeDraft(sessionId, (before) => ({
                      attached: before.attached.filter((other) => other.id !== id),
                    }))
                  }
                >
                  <X className="size-3" />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={area}
          dir="auto"
          aria-label="Message to the agent"
          value={text}
          disabled={isOff}
          rows={Math.min(10, Math.max(2, text.split("\n").length))}
          placeholder={
            disabledBecause ??
            (isRunning ? "Send a follow-up (queued until the agent is ready)" : "What should the agent do?")
          }
          onChange={(event) => changeDraft(sessionId, () => ({ text: event.target.value }))}
          onPaste={(event) => {
            if (event.clipboardData.files.length === 0) return;
            event.preventDefault();
            void attach([...event.clipboardData.files]);
          }}
          onKeyDown={(event) => {
            // While an input method composes a word, it handles the keys.
            if (event.nativeEvent.isComposing) return;
            // Ignore key repeat.
            if (event.key === "Escape" && !event.repeat) return onEscape();
            if (event.key !== "Enter" || event.shiftKey || isTouched) return;
            event.preventDefault();
            if (!event.repeat) void send();
          }}
          className="block w-full resize-none bg-transparent px-3 py-2 text-base outline-none placeholder:text-faint disabled:cursor-not-allowed"
        />
        <div className="flex flex-wrap items-center gap-1 px-2 pb-2">
          <input
            ref={chooser}
            type="file"
            multiple
            hidden
            aria-label="Files to attach"
            onChange={(event) => {
              // Copied, because clearing the field empties the list.
              void attach([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
          <IconButton label="Attach images or files" disabled={isOff} onClick={() => chooser.current?.click()}>
            <Paperclip className="size-4" />
          </IconButton>
          {tools}
          <span className="ml-auto flex gap-1">
            {isRunning && (
              <Button look="danger" icon={<CircleStop className="size-4" />} onClick={onInterrupt} disabled={isOff}>
                Interrupt
              </Button>
            )}
            <Button type="submit" look="primary" icon={<SendHorizontal className="size-4" />} disabled={!isReady}>
              {isRunning ? "Queue" : "Send"}
            </Button>
          </span>
        </div>
      </div>
    </form>
  );
}

/** Warns about sending twice: the agent would do the work twice. */
function warnIfSent(thrown: unknown): unknown {
  if (!isUnanswered(thrown)) return thrown;
  return new Error(`${thrown.message} The message may have arrived. Check the transcript before you send it again.`);
}
