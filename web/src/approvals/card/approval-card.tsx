import { CircleHelp, ListChecks, ShieldQuestion, Wrench } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { WireApproval } from "../../../../src/client/index.ts";
import { isUnanswered } from "../../api.ts";
import { useMay } from "../../caller.tsx";
import { cx } from "../../parts/cx.ts";
import { Ago, useNow, When } from "../../parts/figures/figures.tsx";
import { Problem } from "../../parts/failure/problem.tsx";
import { Pill } from "../../parts/tone.tsx";
import { Answered } from "../answered.tsx";
import { type AnswerProps, CallAnswer } from "./call-answer.tsx";
import { CallDetails } from "./call-details.tsx";
import { CardContext } from "./card-place.ts";
import { type Change, changeOf, planOf, unseenIn } from "./change.ts";
import { traitsOf } from "./describe.ts";
import { forgetDraft } from "../drafts.ts";
import { PlanAnswer } from "./plan-answer.tsx";
import { PlanView } from "./plan-view.tsx";
import { QuestionAnswer } from "../questions/question-answer.tsx";
import { askedIn } from "../questions/questions.ts";
import { ResultAnswer } from "./result-answer.tsx";
import { useApproval } from "./use-approval.ts";
import { escapeHidden } from "../../../../src/words/hidden-text.ts";
import { duration } from "../../../../src/words/amounts.ts";

const ICONS = { tool: ShieldQuestion, plan: ListChecks, question: CircleHelp, custom_tool: Wrench };
const FORMS: Record<WireApproval["request"]["kind"], (props: AnswerProps) => React.ReactNode> = {
  tool: CallAnswer,
  plan: PlanAnswer,
  question: QuestionAnswer,
  custom_tool: ResultAnswer,
};

/**
 * One approval: what would happen, why somebody is asked, and the ways to answer. Whoever answers it, here or elsewhere, it
 * stays where it is and tells that.
 */
export function ApprovalCard({
  approval: given,
  isCurrent = false,
  mayAct,
  onAnswered,
}: {
  readonly approval: WireApproval;
  /** Whether the keys a, d and e are for this one. */
  readonly isCurrent?: boolean;
  /** Whether its keys may act at this moment; always without it. */
  readonly mayAct?: () => boolean;
  /** It is answered now, by this person or, when `isMine` is false, by whoever was first. */
  readonly onAnswered?: (isMine: boolean) => void;
}) {
  const { approval, outcome, closed, sent, problem, isSending, isMine, send } = useApproval(given, onAnswered);
  const mayAnswer = useMay("operator");
  const isOpen = outcome === "pending" && closed === undefined;
  useEffect(() => {
    if (!isOpen) forgetDraft(given.id);
  }, [isOpen, given.id]);
  const place = useSteadyHeight(isOpen || isMine);
  const titleId = useId();
  const { request } = approval;
  const Icon = ICONS[request.kind];
  const Form = FORMS[request.kind];
  const [isAllShown, setAllShown] = useState(false);
  const change = useMemo(() => changeOf(request.diff), [request.diff]);
  const unseen = useMemo(() => unseenIn(request, change), [request, change]);
  const context = {
    id: approval.id,
    card: place,
    isCurrent,
    mayAct,
    unseen: isAllShown ? undefined : unseen,
    showAll: () => setAllShown(true),
  };
  return (
    <article
      ref={place}
      tabIndex={-1}
      aria-labelledby={titleId}
      aria-current={isCurrent ? "true" : undefined}
      data-approval={approval.id}
      className={cx(
        "flex min-w-0 scroll-m-4 flex-col gap-3 rounded-lg border bg-surface p-3 shadow-card sm:p-4",
        !isOpen ? "border-line" : !isCurrent ? "border-waiting/50" : mayAct === undefined ? "border-accent" : GUARDED,
      )}
    >
      <header className="flex items-start gap-2">
        <Icon className={cx("mt-0.5 size-4 shrink-0", isOpen ? "text-waiting" : "text-faint")} aria-hidden />
        <div className="min-w-0 flex-1">
          <h2 id={titleId} dir="auto" className="font-semibold [overflow-wrap:anywhere]">
            {headingOf(request)}
          </h2>
          <Facts approval={approval} isOpen={isOpen} />
        </div>
      </header>
      <CardContext value={context}>
        <Body request={request} change={change} isOpen={isOpen && mayAnswer} />
        {request.kind === "tool" && <Why request={request} />}
        {isOpen && problem !== undefined && <Unanswered thrown={problem} />}
        {!isOpen && <Answered approval={approval} outcome={outcome} closed={closed} sent={sent} />}
        {isOpen && mayAnswer && <Form approval={approval} isSending={isSending} onSend={send} />}
      </CardContext>
      {isOpen && !mayAnswer && (
        <p className="rounded-md bg-sunken px-3 py-2 text-sm text-muted">
          You are a viewer here: you may look, but not answer. It waits for an operator or an admin.
        </p>
      )}
    </article>
  );
}

/** Where nobody says what became of an answer, it may have been taken: only the receipt was lost. */
function Unanswered({ thrown }: { readonly thrown: unknown }) {
  if (!isUnanswered(thrown)) return <Problem title="The answer was not taken" thrown={thrown} />;
  return (
    <Problem title="It is not known whether the answer was taken" thrown={thrown}>
      <p>This is being looked up. If it was not taken, answer again.</p>
    </Problem>
  );
}

/** Its keys are for it while the focus is inside of what it stands in. */
const GUARDED =
  "border-waiting/50 outline-none group-focus-within:border-accent group-focus-within:ring-2 group-focus-within:ring-accent";

function headingOf({ kind, title, server }: WireApproval["request"]): string {
  if (kind === "question")
    return server === undefined ? "The agent asks" : `The MCP server ${escapeHidden(server)} asks`;
  return kind === "plan" ? "A plan to approve" : escapeHidden(title);
}

/** Who asks, since when, and until when. */
function Facts({ approval, isOpen }: { readonly approval: WireApproval; readonly isOpen: boolean }) {
  const { request, created_at, expires_at } = approval;
  const now = useNow(1_000);
  const left = expires_at === null ? Infinity : Date.parse(expires_at) - now;
  return (
    <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
      <span>
        asked <Ago at={created_at} />
      </span>
      {request.agent !== undefined && (
        <Pill tone="accent">
          subagent <span dir="auto">{escapeHidden(request.agent)}</span>
        </Pill>
      )}
      {traitsOf(request).map((trait) => (
        <Pill key={trait} tone="quiet">
          {trait}
        </Pill>
      ))}
      {isOpen && expires_at !== null && (
        <span className={left < 60_000 ? "text-bad" : undefined}>
          {left > 0 ? `expires in ${duration(left)}, ` : "expires "}
          <When at={expires_at} />; then it counts as denied
        </span>
      )}
    </p>
  );
}

/** A form has its questions in itself. */
function Body({
  request,
  change,
  isOpen,
}: {
  readonly request: WireApproval["request"];
  readonly change: Change | undefined;
  readonly isOpen: boolean;
}) {
  const { kind, input, server } = request;
  const plan = planOf(request);
  if (plan !== undefined) return <PlanView plan={plan} />;
  if (kind !== "question") return <CallDetails request={request} change={change} />;
  const { message, url } = input;
  return (
    <>
      {server !== undefined && typeof message === "string" && (
        <p dir="auto" className="break-words">
          {escapeHidden(message)}
        </p>
      )}
      {server !== undefined && typeof url === "string" && <Address url={url} />}
      {!isOpen && <Questions request={request} />}
    </>
  );
}

/** For whoever cannot answer, or not any more. */
function Questions({ request }: { readonly request: WireApproval["request"] }) {
  return askedIn(request).map(({ name, label, options }) => (
    <div key={name} dir="auto" className="break-words">
      <p>{escapeHidden(label)}</p>
      <ul className="list-disc pl-5 text-sm text-muted">
        {options.map((option) => (
          <li key={option.value}>
            {escapeHidden(option.label)}
            {option.about !== undefined && <span className="text-faint"> · {escapeHidden(option.about)}</span>}
          </li>
        ))}
      </ul>
    </div>
  ));
}

/** Where a server sends a person. Only what a click cannot turn into a script is a link. */
function Address({ url }: { readonly url: string }) {
  if (!/^https?:/i.test(url)) return <p className="font-mono text-xs break-all">{escapeHidden(url)}</p>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="font-mono text-xs break-all text-accent underline"
    >
      {escapeHidden(url)}
    </a>
  );
}

function Why({ request: { asked_by, reason } }: { readonly request: WireApproval["request"] }) {
  return (
    <p className="text-xs [overflow-wrap:anywhere] text-muted">
      <span className="text-faint">Asked by </span>
      <code className="font-mono text-text">{escapeHidden(asked_by)}</code>
      <span dir="auto"> · {escapeHidden(reason)}</span>
    </p>
  );
}

/** A card that somebody else has answered keeps its height, so that nothing below moves under a finger that is on its way. */
function useSteadyHeight(isFree: boolean) {
  const place = useRef<HTMLElement>(null);
  const height = useRef(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    if (isFree) height.current = element.offsetHeight;
    else if (height.current > 0) element.style.minHeight = `${height.current}px`;
  });
  return place;
}
