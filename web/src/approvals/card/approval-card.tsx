import { CircleHelp, ListChecks, ShieldQuestion, Wrench } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { WireApproval } from "../../../../src/client/index.ts";
import { isUnanswered } from "../../api.ts";
import { useMay } from "../../caller.tsx";
import { cx } from "../../parts/cx.ts";
import { Ago, useNow, When } from "../../parts/figures/figures.tsx";
import { Problem } from "../../parts/failure/problem.tsx";
import { Pill } from "../../parts/tone.tsx";
import { Answered } from "../given-answer.tsx";
import { type AnswerProps, CallAnswer } from "./call-answer.tsx";
import { CallDetails } from "./call-details.tsx";
import { CardContext } from "./card-position.ts";
import { type ShownChange, changeOf, planOf, unseenIn } from "./change.ts";
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
 * One approval: what would happen, why it needs approval, and the ways to answer. Once answered, here or elsewhere, the card
 * stays in place and shows the answer.
 */
export function ApprovalCard({
  approval: given,
  isCurrent = false,
  mayAct,
  onAnswered,
}: {
  readonly approval: WireApproval;
  /** Whether the keys a, d and e act on this card. */
  readonly isCurrent?: boolean;
  /** Whether its keys may act right now (default: always). */
  readonly mayAct?: () => boolean;
  /** Called once it is answered: by this person, or by someone else when `isMine` is false. */
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
          Your viewer role is read-only. An operator or admin needs to answer this.
        </p>
      )}
    </article>
  );
}

/** Without a response from the server, the answer may still have been saved. */
function Unanswered({ thrown }: { readonly thrown: unknown }) {
  if (!isUnanswered(thrown)) return <Problem title="Your answer was not saved" thrown={thrown} />;
  return (
    <Problem title="Unclear whether your answer was saved" thrown={thrown}>
      <p>Checking now. If it was not saved, answer again.</p>
    </Problem>
  );
}

/** Its keys act while the focus is inside its container. */
const GUARDED =
  "border-waiting/50 outline-none group-focus-within:border-accent group-focus-within:ring-2 group-focus-within:ring-accent";

function headingOf({ kind, title, server }: WireApproval["request"]): string {
  if (kind === "question")
    return server === undefined ? "Question from the agent" : `Question from the MCP server ${escapeHidden(server)}`;
  return kind === "plan" ? "Plan to approve" : escapeHidden(title);
}

/** Which agent asked, when, and when the approval expires. */
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
          <When at={expires_at} />; then it is denied
        </span>
      )}
    </p>
  );
}

/** Forms show their own questions. */
function Body({
  request,
  change,
  isOpen,
}: {
  readonly request: WireApproval["request"];
  readonly change: ShownChange | undefined;
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

/** For people who cannot answer, and for approvals that are closed. */
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

/** The address an MCP server sends a person to. It is a link only if a click cannot run a script. */
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
      <span className="text-faint">Why: </span>
      <span dir="auto">{escapeHidden(reason)}</span>
      <span className="text-faint"> · required by </span>
      <code className="font-mono text-text">{escapeHidden(asked_by)}</code>
    </p>
  );
}

/** A card that someone else answered keeps its height, so that the cards below do not move under a finger. */
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
