import { inTurn } from "../../../core/session/state.ts";
import {
  accepted,
  eventQuery,
  messageRequest,
  stateQuery,
  streamQuery,
} from "../../../protocol/api/session-requests.ts";
import { stateToWire } from "../../../protocol/api/session-state.ts";
import { readEventPage } from "../../answers/page.ts";
import { ApiFailure } from "../../http/failure.ts";
import { firstEvent, wake } from "../../stream/turn-start.ts";
import { eventStream, requireWithinLog } from "../../stream/stream.ts";
import { clippedEvent, showClipped } from "../../stream/clipped-event.ts";
import { findSession, notFound } from "../../http/lookup.ts";
import {
  eventPageComponent,
  loggedEventComponent,
  sessionWithStateComponent,
  stateComponent,
} from "../document/components.ts";
import { type ApiDeps, requirePort } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { saidContent } from "../../files/content.ts";
import { readWireSession } from "./read-wire-session.ts";

const tag = "Sessions";

/** The events of a session, and requests that add to them. */
export function addSessionEvents(api: Api, deps: ApiDeps): void {
  const { runtime } = deps;

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/events",
      role: "viewer",
      tag,
      summary: "Read a session's log",
      description:
        "In order. Secrets were redacted before the events were saved. A page ends at 4 MiB, however many events you request; `next_after` is the position to continue from.",
      query: eventQuery,
      answer: eventPageComponent,
    },
    async ({ caller, params: { id }, query: { after, up_to: upTo, limit, types, clip } }) => {
      await findSession(deps, caller.project, id);
      const wanted = types?.split(",");
      const { data, next } = await readEventPage({
        after,
        limit,
        read: (range) => runtime.read(id, { ...range, ...(upTo !== undefined && { upTo }) }),
        show: (event) => {
          if (wanted?.includes(event.type) === false) return undefined;
          return clip === undefined ? event : clippedEvent(event, clip);
        },
      });
      return { data, next_after: next };
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/events/{seq}",
      role: "viewer",
      tag,
      summary: "Read one event",
      description: "Returns the complete event at a position in the log.",
      answer: loggedEventComponent,
    },
    async ({ caller, params: { id, seq } }) => {
      await findSession(deps, caller.project, id);
      const at = /^[1-9]\d{0,14}$/.test(seq) ? Number(seq) : undefined;
      const [event] = at === undefined ? [] : await runtime.read(id, { after: at - 1, upTo: at });
      if (event === undefined) throw notFound("event", seq);
      return event;
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/state",
      role: "viewer",
      tag,
      summary: "Get a session's state at a log position",
      description: "The state of the session right after that event.",
      query: stateQuery,
      answer: stateComponent,
    },
    async ({ caller, params: { id }, query }) => {
      await findSession(deps, caller.project, id);
      const head = await runtime.head(id);
      const { at = head } = query;
      if (at > head)
        throw new ApiFailure(
          "invalid_request_error",
          `at is ${at}, but the log of this session ends at ${head}. Use the seq of one of its events, or 0 for the state before the first.`,
        );
      return stateToWire(await runtime.stateAt(id, at));
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/stream",
      role: "viewer",
      tag,
      summary: "Follow a session",
      description:
        "Server-sent events: every event of the log from the given position, then new ones as they happen. `event` is the type; `id` is the position in the log, and `Last-Event-ID` resumes there without gaps or repeats. Previews of text being written (`event_start`, `event_delta`) have no id; an `event_start` with a known id restarts the text. `ping` keeps the connection alive.",
      query: streamQuery,
      answer: "text/event-stream",
    },
    async ({ c, caller, params: { id }, query: { after: from = 0, clip } }) => {
      const record = await findSession(deps, caller.project, id);
      const head = await runtime.head(id);
      requireWithinLog("after", from, head);
      wake(runtime, c, record);
      return eventStream(c, {
        head,
        follow: (after, signal) => runtime.events(id, { after: Math.max(after, from), signal }),
        show: showClipped(clip),
      });
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/messages",
      role: "operator",
      tag,
      summary: "Send a message",
      description: "Starts a turn, or is added to the current one. Follow the stream to see the result.",
      body: messageRequest,
      answer: accepted,
      status: 202,
    },
    async ({ caller, params: { id }, body: { content } }) => {
      await findSession(deps, caller.project, id);
      const said = await saidContent(deps, caller, content);
      runtime.requireRoom();
      const session = await runtime.attend(id);
      return { session_id: id, after: (await firstEvent(session.send(said))).seq - 1 };
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/interrupt",
      role: "operator",
      tag,
      summary: "Interrupt a session",
      description: "Ends the current turn and keeps its work. Does nothing if there is none.",
      answer: sessionWithStateComponent,
    },
    async ({ caller, params: { id } }) => {
      const record = await findSession(deps, caller.project, id);
      if (inTurn(await runtime.state(id))) await (await runtime.attend(id)).interrupt();
      return readWireSession(deps, record);
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/compact",
      role: "operator",
      tag,
      summary: "Compact a session",
      description: "Runs a separate turn, after which the model continues from a summary. The log keeps everything.",
      answer: accepted,
      status: 202,
    },
    async ({ caller, params: { id } }) => {
      await findSession(deps, caller.project, id);
      runtime.requireRoom();
      const session = await runtime.attend(id);
      return { session_id: id, after: (await firstEvent(session.compact())).seq - 1 };
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/export",
      role: "viewer",
      tag,
      summary: "Export a session",
      description: "Its log as JSON lines, for `capstan sessions import`. Does not include its files.",
      answer: "application/jsonl",
    },
    async ({ c, caller, asking, params: { id } }) => {
      await findSession(deps, caller.project, id);
      const bytes = requirePort(deps.archive, "archives")(id, asking);
      c.header("content-type", "application/jsonl");
      c.header("content-disposition", `attachment; filename="${id}.jsonl"`);
      return c.body(ReadableStream.from(bytes));
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}/calls/{call}/output",
      role: "viewer",
      tag,
      summary: "Get the full output of a call",
      description:
        "The tool's output, even if the event of its result has only the beginning (`whole_output`). `call` is the `call_id`.",
      answer: "text/plain",
    },
    async ({ c, caller, params: { id, call } }) => {
      await findSession(deps, caller.project, id);
      c.header("content-type", "text/plain; charset=utf-8");
      c.header("content-disposition", "attachment");
      return c.body(new Uint8Array(await requirePort(deps.output, "outputs")(id, call)));
    },
  );
}
