import { Download } from "lucide-react";
import { useState } from "react";
import { api } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { FoldedText } from "../../parts/text/code.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { tellProblem } from "../../parts/toast.tsx";
import type { ToolResult } from "../transcript/transcript.ts";
import { thousands } from "../../../../src/words/amounts.ts";

/** In characters: a page with more is slow. The rest is in the file. */
const SHOWN = 400_000;

/** The result has only the beginning of what the tool gave; all of it is loaded when it is wanted. */
export function WholeOutput({ sessionId, result }: { readonly sessionId: string; readonly result: ToolResult }) {
  const [text, setText] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const output = "whole_output" in result ? result.whole_output : undefined;
  const { call_id: call } = result;
  if (output?.hash === undefined || call === undefined) return undefined;
  const show = async (): Promise<void> => {
    setBusy(true);
    try {
      setText(new TextDecoder().decode(await api.sessions.output(sessionId, call)));
    } catch (thrown) {
      tellProblem(thrown);
    } finally {
      setBusy(false);
    }
  };
  if (text === undefined)
    return (
      <Button small className="self-start" disabled={isBusy} onClick={() => void show()}>
        {isBusy ? "Loading…" : `Show all ${thousands(output.total)} bytes of output`}
      </Button>
    );
  return (
    <div className="flex flex-col gap-2 rounded-md bg-sunken p-2">
      <p className="text-xs text-faint">
        {output.bytes < output.total ? "The output was too long: its middle was not kept." : "The whole output"}
      </p>
      <FoldedText text={text.slice(0, SHOWN)} lines={40} />
      {text.length > SHOWN && <p className="text-xs text-faint">There is more. Save it to see the rest.</p>}
      <Button
        small
        className="self-start"
        icon={<Download className="size-3.5" aria-hidden />}
        onClick={() => saveFile(`output-${call}.txt`, new Blob([text], { type: "text/plain" }))}
      >
        Save
      </Button>
    </div>
  );
}
