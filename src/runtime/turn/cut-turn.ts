import type { EventDraft } from "../../core/events/events.ts";
import { lateAnswers, lateResults } from "../calls/late-answers.ts";
import { type CutTurn, inspectCutTurn, settleOpenWork } from "../calls/settle-work.ts";
import type { SessionDeps } from "../session-deps.ts";

export const HOST_GONE = "The host that drove this session is gone.";

/** Gives everything open in a cut turn its outcome, and tells whether the model had said its last word. */
export async function settleCutTurn(
  { log, store, record, clock }: Pick<SessionDeps, "log" | "store" | "record" | "clock">,
  reason: string,
): Promise<CutTurn["kind"]> {
  await log.append(async (state) => {
    const answers = await lateAnswers(store, Object.values(state.openCalls));
    const results = await lateResults({ store, clock }, state);
    return [processLost(reason), ...answers, ...results.events, ...settleOpenWork(state, results.closed)];
  });
  const events = await store.events(record.id, { after: Math.max(0, log.state.historyFrom - 1) });
  const cut = inspectCutTurn(events.map(({ event }) => event));
  if (cut.kind === "unfinished" && cut.withdraw !== undefined)
    await log.append([{ type: "capstan.message_withdrawn", message_id: cut.withdraw }]);
  return cut.kind;
}

export function processLost(reason: string, stderr = ""): EventDraft<"capstan.process_lost"> {
  return { type: "capstan.process_lost", reason, stderr };
}
