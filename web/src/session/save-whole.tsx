import { Download } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { LoggedEvent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { saveFile } from "../parts/save-file.ts";
import { tellProblem } from "../parts/toast.tsx";

/** Whether the page has only the beginning of an event's texts. */
export function isClipped(event: LoggedEvent | undefined): boolean {
  return event !== undefined && "clipped" in event && event.clipped === true;
}

/** Saves a long text in full: the page shows only its beginning. */
export function SaveWhole({
  sessionId,
  seq,
  children,
}: {
  readonly sessionId: string;
  readonly seq: number;
  readonly children: ReactNode;
}) {
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      saveFile(
        `event-${seq}.txt`,
        new Blob([textIn(await api.sessions.event(sessionId, seq))], { type: "text/plain" }),
      );
    } catch (thrown) {
      tellProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      small
      className="self-start"
      icon={<Download className="size-3.5" aria-hidden />}
      disabled={isBusy}
      onClick={() => void save()}
    >
      {isBusy ? "Loading…" : children}
    </Button>
  );
}

function textIn(event: LoggedEvent): string {
  if ("thinking" in event && typeof event.thinking === "string") return event.thinking;
  if ("input" in event && event.input !== undefined) return JSON.stringify(event.input, undefined, 2);
  const content = "content" in event && Array.isArray(event.content) ? event.content : [];
  return content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block))).join("\n");
}
