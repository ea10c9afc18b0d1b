import type { EngineName } from "../core/agent/engine-name.ts";
import { CapstanError } from "../core/errors.ts";
import type { LoggedEvent, SessionEvent } from "../core/events/events.ts";
import { markersIn } from "../core/redaction/redaction-marker.ts";
import type { SaidThread } from "../core/suite/spoken-thread.ts";
import type { SessionRecord } from "../core/ports/store.ts";
import type { AnswerAsWritten, CaseAsWritten, GraderAsWritten } from "../core/suite/suite-schema.ts";
import { textOf } from "../core/text/text.ts";
import { callsIn } from "./trial/facts.ts";
import { recordedAnswers } from "./trial/session-answers.ts";
import { saidIn } from "./session-threads.ts";
import type { TrialCallFacts, TrialFacts } from "./trial/trial-facts.ts";

/** The parts of a past session that make a case. */
export interface SessionCase {
  readonly turns: readonly string[];
  readonly answers: readonly AnswerAsWritten[];
  readonly said: readonly SaidThread[];
  readonly calls: readonly TrialCallFacts[];
}

/** Throws if the session cannot be reconstructed from its log, with the reason. */
export function sessionCase(record: SessionRecord, events: readonly LoggedEvent[]): SessionCase {
  const why = whyNot(record, events);
  if (why !== undefined)
    throw new CapstanError("unsupported", `Session ${record.id} cannot become a case: ${why}.`, {
      data: { sessionId: record.id },
    });
  const found = {
    turns: events.flatMap((event) => (event.type === "user.message" ? [event.command ?? textOf(event.content)] : [])),
    answers: recordedAnswers(events),
    said: saidIn(events),
  };
  const markers = markersIn(JSON.stringify(found));
  if (markers.length > 0)
    throw new CapstanError(
      "invalid_cassette",
      `Session ${record.id} cannot become a case: a secret was redacted from its log (${[...new Set(markers)].join(", ")}), so the original text is unknown. Repeat the conversation without the secret.`,
    );
  return { ...found, calls: callsIn(events) };
}

/** Why the session cannot be reproduced: a sentence without its period. */
function whyNot({ forkedFrom, ownProgram, cwd }: SessionRecord, events: readonly LoggedEvent[]): string | undefined {
  if (forkedFrom !== null)
    return `it is a fork, and the log of ${forkedFrom.sessionId} has the beginning of its conversation. Record that session`;
  if (ownProgram) return "a program gave it its own tools, hooks or variables, which a suite does not have";
  const status = events.findLast(
    (event) => event.type.startsWith("session.status_") || event.type === "capstan.session_archived",
  );
  if (!events.some(({ type }) => type === "user.message")) return "it has no messages";
  if (status?.type === "session.status_idle" && status.stop_reason.type === "requires_action")
    return "it is waiting for an answer. Answer it first: capstan approvals list";
  if (status?.type === "session.status_running" || status?.type === "session.status_rescheduled")
    return "it is still running. Wait until it is idle";
  let isWorking = false;
  for (const event of events) {
    if (event.type === "session.status_running") isWorking = true;
    if (event.type === "session.status_idle" && event.stop_reason.type !== "requires_action") isWorking = false;
    const why = whyNotWith(event, { isWorking, cwd });
    if (why !== undefined) return why;
  }
  return undefined;
}

/** Requests of these classes are answered from the log. */
const KNOWN_CLASSES = ["main", "subagent"];

function whyNotWith(
  event: SessionEvent,
  { isWorking, cwd }: { readonly isWorking: boolean; readonly cwd: string },
): string | undefined {
  switch (event.type) {
    case "user.message":
      if (isWorking) return "a message arrived while the agent was working, and a case cannot reproduce the time";
      return event.content.every(({ type }) => type === "text") ? undefined : "a message contains more than text";
    case "user.interrupt":
      return "it was interrupted, and a case cannot reproduce the time";
    case "agent.thread_context_compacted":
      return "its conversation was compacted, and the request for the summary is not in the log";
    case "agent.custom_tool_use":
      return `a client returned the results of ${event.name}, and a suite has no clients`;
    case "capstan.rewound":
      return "its files were rewound";
    case "capstan.model_changed":
    case "capstan.mode_changed":
    case "capstan.engine_changed":
      return "its model, mode or engine was changed";
    case "capstan.approval_requested":
      return event.server === undefined ? undefined : `the MCP server ${event.server} asked a question`;
    case "capstan.permission_decided":
      return event.approval_id !== undefined && JSON.stringify(event.input ?? {}).includes(cwd)
        ? `someone changed the input of ${event.tool} to a path that differs in every trial`
        : undefined;
    case "span.model_request_end":
      return event.http_status === 200 && !KNOWN_CLASSES.includes(event.request_class)
        ? `it sent a side request to a model (${event.request_class}), and the response is not in the log`
        : undefined;
    default:
      return undefined;
  }
}

/** The case as written, with graders that check what the session did. */
export function writtenCase(
  { turns, answers }: SessionCase,
  {
    name,
    engine,
    trials,
    fixture,
    git,
    inputs,
    facts,
  }: {
    readonly name: string;
    /** The session's engine: on another one the replay would differ. */
    readonly engine: EngineName;
    /** Undefined for the suite's default. */
    readonly trials: number | undefined;
    /** Relative to the suite. */
    readonly fixture: string | undefined;
    readonly git: boolean;
    readonly inputs: CaseAsWritten["inputs"];
    /** The results of the replay; absent before it. */
    readonly facts: TrialFacts | undefined;
  },
): CaseAsWritten {
  const [only = "", ...others] = turns;
  return {
    name,
    engine,
    ...(trials !== undefined && { trials }),
    ...(fixture !== undefined && { fixture }),
    ...(git && { git }),
    ...(inputs !== undefined && Object.keys(inputs).length > 0 && { inputs }),
    ...(others.length === 0 ? { input: only } : { turns: turns.map((input) => ({ input })) }),
    ...(answers.length > 0 && { answers: [...answers] }),
    ...(facts !== undefined && { graders: gradersOf(facts) }),
  };
}

function gradersOf({ turns, calls, changes }: TrialFacts): GraderAsWritten[] {
  const last = turns.at(-1);
  const tools = [...new Set(calls.map(({ tool }) => tool))];
  const made = changes.filter(({ kind }) => kind !== "deleted").map(({ path }) => path);
  return [
    ...(last === undefined ? [] : [{ stop_reason: last.stopReason }]),
    ...(tools.length === 0 ? [] : [{ tools_called: tools }]),
    ...(made.length === 0 ? [] : [{ files: { exist: made } }]),
    { only_changed: changes.map(({ path }) => exactly(path)) },
  ];
}

/** Matches exactly this path, in the syntax of `.gitignore`. */
function exactly(path: string): string {
  return `/${path.replaceAll(/[*?[\]\\]/g, String.raw`\$&`).replace(/ +$/, (spaces) => spaces.replaceAll(" ", "\\ "))}`;
}

/** Calls whose outcome differs from the session's, one line each. */
export function otherOutcomes(before: readonly TrialCallFacts[], now: readonly TrialCallFacts[]): readonly string[] {
  const lines = [...new Set(before.map(({ by }) => by))];
  return lines.flatMap((line) => {
    const [then, here] = [before, now].map((calls) => calls.filter(({ by }) => by === line));
    return (then ?? []).flatMap(({ tool, outcome = "no outcome" }, index) => {
      const found = here?.[index]?.outcome ?? "no outcome";
      return found === outcome
        ? []
        : [`call ${index + 1} of ${line} (${tool}): ${outcome} in the session, ${found} now`];
    });
  });
}
