import { Check, CircleSlash, X } from "lucide-react";
import type { WireApproval } from "../../../src/client/index.ts";
import { useCaller } from "../caller.tsx";
import { problemOf } from "../api.ts";
import { Ago } from "../parts/figures/figures.tsx";
import { Pill } from "../parts/tone.tsx";
import { type ApprovalOutcome, outcomeWord } from "./card/describe.ts";
import { escapeHidden } from "../../../src/words/hidden-text.ts";

/** Who answered, what and when. */
export function Answered({
  approval: { request, answer },
  outcome,
  closed,
  sent,
}: {
  readonly approval: WireApproval;
  readonly outcome: ApprovalOutcome;
  /** Why the answer from this page was rejected. */
  readonly closed?: unknown;
  /** The answer sent from this page. */
  readonly sent?: NonNullable<WireApproval["answer"]>["behavior"] | undefined;
}) {
  const caller = useCaller();
  const isMine = answer?.by === caller.name;
  const Icon = outcome === "allowed" ? Check : outcome === "denied" ? X : CircleSlash;
  return (
    <div role="status" className="flex flex-col gap-1.5 text-sm">
      {closed !== undefined && (
        <p className="font-medium text-waiting">
          {answer === null ? problemOf(closed) : lateness({ isMine, isSame: answer.behavior === sent })}
        </p>
      )}
      {(answer !== null || closed === undefined) && (
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <Pill tone={outcome === "allowed" ? "good" : outcome === "denied" ? "bad" : "quiet"}>
            <Icon className="size-3" aria-hidden />
            {outcomeWord(request.kind, outcome)}
          </Pill>
          {answer === null ? (
            <span className="text-muted">
              {outcome === "expired" ? "Nobody answered in time, so it was denied." : "Its turn ended."}
            </span>
          ) : (
            <span className="text-muted">
              by{" "}
              <span className="font-medium text-text" dir="auto">
                {escapeHidden(answer.by)}
              </span>
              {isMine ? " (you)" : ""} · <Ago at={answer.at} />
            </span>
          )}
        </p>
      )}
      {answer !== null && <Said answer={answer} />}
    </div>
  );
}

/** If the response to an answer was lost and the answer is sent again, the server rejects the second one although the first was saved. */
function lateness({ isMine, isSame }: { readonly isMine: boolean; readonly isSame: boolean }): string {
  if (!isMine) return "Someone else answered first, so your answer was not used.";
  return isSame ? "Your answer was saved." : "You already answered this. Your first answer counts.";
}

/** The parts of the answer besides yes or no. */
function Said({ answer }: { readonly answer: NonNullable<WireApproval["answer"]> }) {
  const { message, input, scope = "once", rules = [], answers = {}, notes = {} } = answer;
  const where = { once: "", session: "this session", project: "this project", always: "always" }[scope];
  return (
    <dl className="flex flex-col gap-1 text-xs [overflow-wrap:anywhere] text-muted">
      {message !== undefined && message !== "" && <Line name="Message to the agent" text={message} />}
      {Object.entries(answers).map(([question, text]) => (
        <Line key={question} name={question} text={text} />
      ))}
      {Object.entries(notes).map(([question, text]) => (
        <Line key={question} name={`Note on: ${question}`} text={text} />
      ))}
      {input !== undefined && (
        <Line
          name="Ran as edited"
          text={typeof input["command"] === "string" ? input["command"] : JSON.stringify(input)}
          isCode
        />
      )}
      {where !== "" && rules.map((rule) => <Line key={rule} name={`Remembered for ${where}`} text={rule} isCode />)}
    </dl>
  );
}

function Line({ name, text, isCode = false }: { name: string; text: string; isCode?: boolean }) {
  return (
    <div className="flex flex-wrap gap-x-1.5">
      <dt className="text-faint">{escapeHidden(name)}:</dt>
      <dd dir="auto" className={isCode ? "font-mono text-text" : "text-text"}>
        {escapeHidden(text)}
      </dd>
    </div>
  );
}
