import { Download } from "lucide-react";
import { useState } from "react";
import { api } from "../../api.ts";
import { Button } from "../../parts/button.tsx";
import { FoldedText } from "../../parts/text/code.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { tellProblem } from "../../parts/toast.tsx";
import type { ToolResult } from "../transcript/transcript.ts";
import { thousands } from "../../../../src/words/amounts.ts";

/** In characters: more would make the page slow. The saved file has the rest. */
const SHOWN = 400_000;

/** The result contains only the beginning of the output. The rest is loaded on request. */
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
        {output.bytes < output.total ? "The output was too long, so its middle was not saved." : "Full output"}
      </p>
      <FoldedText text={text.slice(0, SHOWN)} lines={40} />
      {text.length > SHOWN && <p className="text-xs text-faint">Truncated. Save it to see the rest.</p>}
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
