import { FoldedText } from "../../parts/text/code.tsx";
import { WholeOutput } from "./whole-output.tsx";
import { isClipped, SaveWhole } from "../save-whole.tsx";
import type { Call } from "../transcript/transcript.ts";

/** Who decided, what hooks did, what went wrong, and a link to the full output. */
export function CallResultTail({ call, sessionId }: { readonly call: Call; readonly sessionId: string }) {
  const { use, decision, answer, result, hooks } = call;
  const troubled = hooks.filter(({ outcome }) => outcome !== "passed");
  const detail = result !== undefined && "detail" in result ? result.detail : undefined;
  return (
    <>
      {decision?.decision === "deny" && (
        <p dir="auto" className="text-sm text-bad">
          Denied by {decision.decided_by}: {decision.reason}
        </p>
      )}
      {answer?.by !== undefined && (
        <p className="text-xs text-faint">
          {answer.result === "allow" ? "Allowed" : "Denied"} by {answer.by}
          {answer.scope !== undefined && answer.scope !== "once" && `, remembered for the ${answer.scope}`}
        </p>
      )}
      {decision?.input !== undefined && <p className="text-xs text-waiting">The input was changed before it ran.</p>}
      {troubled.map((hook) => (
        <p key={hook.id} dir="auto" className="text-xs text-muted">
          Hook {hook.name}: {hook.outcome}
          {hook.message !== undefined && `, ${hook.message}`}
        </p>
      ))}
      {detail !== undefined && detail !== "" && (
        <div className="rounded-md bg-sunken p-2">
          <p className="mb-1 text-xs text-faint">Additional output that the model did not see</p>
          <FoldedText text={detail} lines={8} />
        </div>
      )}
      {isClipped(use) && (
        <SaveWhole sessionId={sessionId} seq={use.seq}>
          The input is truncated. Save it in full
        </SaveWhole>
      )}
      {result !== undefined && <WholeOutput sessionId={sessionId} result={result} />}
      {result !== undefined && isClipped(result) && (
        <SaveWhole sessionId={sessionId} seq={result.seq}>
          The output is truncated. Save it in full
        </SaveWhole>
      )}
    </>
  );
}
