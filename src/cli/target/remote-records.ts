import type { ApprovalAnswer } from "../../core/session/approval.ts";
import { approvalFromWire, answerToWire } from "../../protocol/api/approvals.ts";
import { isoTime } from "../../protocol/api/common.ts";
import { grantFromWire } from "../../protocol/api/grants.ts";
import { ledgerLineFromWire } from "../../protocol/api/ledger.ts";
import { sessionFromWire } from "../../protocol/api/sessions.ts";
import { usageError } from "../terminal/failure.ts";
import type { Records } from "./records.ts";
import { awaitServer, iterateServer } from "./remote-failure.ts";
import type { ChosenServer } from "./server.ts";

/** The most sessions that the server returns at once. */
const ALL = 1_000;
/** How long the server may hold a request: shorter than the timeout of common proxies. */
export const WAIT_SECONDS = 30;

/** Records of the key's project on a server. */
export function remoteRecords({ url, client }: ChosenServer): Records {
  return {
    async sessions({ limit, status, agent, search, named } = {}) {
      const query = { limit: limit ?? ALL, status, agent, search, named };
      return (await awaitServer(client.sessions.list(query))).map(sessionFromWire);
    },
    session: async (sessionId) => sessionFromWire(await awaitServer(client.sessions.get(sessionId))),
    read: (sessionId, { after, upTo, types } = {}) =>
      awaitServer(
        Array.fromAsync(client.sessions.events(sessionId, { ...(after !== undefined && { after }), upTo, types })),
      ),
    async *follow(sessionId, options) {
      for await (const item of iterateServer(client.sessions.stream(sessionId, options))) if ("seq" in item) yield item;
    },
    archive: (sessionId) => linesOf(awaitServer(client.sessions.export(sessionId))),
    output: (sessionId, call) => awaitServer(client.sessions.output(sessionId, call)),
    async approvals({ status, sessionId } = {}) {
      return (await awaitServer(client.approvals.list({ status, session_id: sessionId }))).map(approvalFromWire);
    },
    async awaitApprovals({ sessionId }, { until, signal }) {
      for (;;) {
        const wait = Math.min(WAIT_SECONDS, Math.max(0, Math.ceil((until - Date.now()) / 1_000)));
        const query = { status: "pending" as const, session_id: sessionId, wait, signal };
        const open = await awaitServer(client.approvals.list(query)).catch((thrown: unknown) => {
          if (signal.aborted) return [];
          throw thrown;
        });
        if (open.length > 0 || signal.aborted || Date.now() >= until) return open.map(approvalFromWire);
      }
    },
    async answer(approvalId, answer, by) {
      if (by !== undefined)
        throw usageError("--as does not work against a server: answers are recorded under the key's name. Omit --as.");
      const approval = approvalFromWire(await awaitServer(client.approvals.answer(approvalId, wireAnswer(answer))));
      const record = sessionFromWire(await awaitServer(client.sessions.get(approval.sessionId)));
      return { approval, record, driver: url };
    },
    grants: async () => (await awaitServer(client.grants.list())).map(grantFromWire),
    revoke: (grantId) => awaitServer(client.grants.revoke(grantId)),
    async readSpending({ by, since, timeZone }) {
      const query = { by, since: since === undefined ? undefined : isoTime(since), time_zone: timeZone };
      const { data, time_zone } = await awaitServer(client.ledger(query));
      return { lines: data.map(ledgerLineFromWire), timeZone: time_zone };
    },
    async replay({ permissions, session, since }) {
      const { data, skipped } = await awaitServer(
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

/** Throws for `always`, which servers do not know. */
export function wireAnswer(answer: ApprovalAnswer): ReturnType<typeof answerToWire> {
  if (answer.scope === "always")
    throw usageError("A server cannot remember an answer for all projects. Use the scope session or project.");
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
