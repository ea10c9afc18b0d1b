import type { ApprovalAnswer } from "../../core/session/approval.ts";
import { approvalFromWire, answerToWire } from "../../protocol/api/approvals.ts";
import { isoTime } from "../../protocol/api/common.ts";
import { grantFromWire } from "../../protocol/api/grants.ts";
import { ledgerLineFromWire } from "../../protocol/api/ledger.ts";
import { sessionFromWire } from "../../protocol/api/sessions.ts";
import { usage } from "../terminal/failure.ts";
import type { Records } from "./records.ts";
import { asked, askedFor } from "./remote-failure.ts";
import type { ChosenServer } from "./server.ts";

/** As many as one answer of the server holds. */
const ALL = 1_000;
/** How long the server may wait before it answers: less than proxies do before they give up. */
export const WAIT_SECONDS = 30;

/** Of the key's project on a server. */
export function remoteRecords({ url, client }: ChosenServer): Records {
  return {
    async sessions({ limit, status, agent, search, named } = {}) {
      const query = { limit: limit ?? ALL, status, agent, search, named };
      return (await asked(client.sessions.list(query))).map(sessionFromWire);
    },
    session: async (sessionId) => sessionFromWire(await asked(client.sessions.get(sessionId))),
    read: (sessionId, { after, upTo, types } = {}) =>
      asked(Array.fromAsync(client.sessions.events(sessionId, { ...(after !== undefined && { after }), upTo, types }))),
    async *follow(sessionId, options) {
      for await (const item of askedFor(client.sessions.stream(sessionId, options))) if ("seq" in item) yield item;
    },
    archive: (sessionId) => linesOf(asked(client.sessions.export(sessionId))),
    output: (sessionId, call) => asked(client.sessions.output(sessionId, call)),
    async approvals({ status, sessionId } = {}) {
      return (await asked(client.approvals.list({ status, session_id: sessionId }))).map(approvalFromWire);
    },
    async awaitApprovals({ sessionId }, { until, signal }) {
      for (;;) {
        const wait = Math.min(WAIT_SECONDS, Math.max(0, Math.ceil((until - Date.now()) / 1_000)));
        const query = { status: "pending" as const, session_id: sessionId, wait, signal };
        const open = await asked(client.approvals.list(query)).catch((thrown: unknown) => {
          if (signal.aborted) return [];
          throw thrown;
        });
        if (open.length > 0 || signal.aborted || Date.now() >= until) return open.map(approvalFromWire);
      }
    },
    async answer(approvalId, answer, by) {
      if (by !== undefined) throw usage("Against a server the key says who answers. Leave --as out.");
      const approval = approvalFromWire(await asked(client.approvals.answer(approvalId, wireAnswer(answer))));
      const record = sessionFromWire(await asked(client.sessions.get(approval.sessionId)));
      return { approval, record, driver: url };
    },
    grants: async () => (await asked(client.grants.list())).map(grantFromWire),
    revoke: (grantId) => asked(client.grants.revoke(grantId)),
    async spent({ by, since, timeZone }) {
      const query = { by, since: since === undefined ? undefined : isoTime(since), time_zone: timeZone };
      const { data, time_zone } = await asked(client.ledger(query));
      return { lines: data.map(ledgerLineFromWire), timeZone: time_zone };
    },
    async replay({ permissions, session, since }) {
      const { data, skipped } = await asked(
        client.replayPolicy({
          permissions,
          session_id: session,
          since: since === undefined ? undefined : isoTime(since),
        }),
      );
      return { lines: data, skipped };
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Refused before it is sent where the server would only say that it does not know the word. */
export function wireAnswer(answer: ApprovalAnswer): ReturnType<typeof answerToWire> {
  if (answer.scope === "always")
    throw usage(
      "Against a server an answer is remembered for the session or for the project, and not everywhere. Choose one of these.",
    );
  return answerToWire({ ...answer, scope: answer.scope });
}

async function* linesOf(body: Promise<ReadableStream<Uint8Array>>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of (await body).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
