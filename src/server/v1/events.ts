import { type Context, Hono } from "hono";
import type { SessionRecord } from "../../core/ports/store.ts";
import { readCursor, writeCursor } from "../../protocol/cursor.ts";
import { eventList, PreviewFilter, streamQueryV1, wireEvent } from "../../protocol/v1/events.ts";
import type { EvaluatedEvent } from "../../protocol/v1/evaluations.ts";
import { isOnSession } from "../../protocol/v1/threads.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import type { V1Deps } from "./deps.ts";
import { findSession } from "../http/lookup.ts";
import { eventStream } from "../stream/stream.ts";
import { wake } from "../stream/turn-start.ts";
import { evaluate } from "./evaluate.ts";
import { sendEvents } from "./events-send.ts";
import { type EventPage, readPage } from "./log.ts";
import { param, readQuery } from "./request.ts";

export function eventRoutes(deps: V1Deps): Hono<Env> {
  const routes = new Hono<Env>();

  routes.get("/sessions/:session/events", async (c) => {
    const { project } = requireRole(c, "viewer");
    const { limit, page, order, ...filter } = readQuery(c, eventList);
    const { id } = await findSession(deps, project, param(c, "session"));
    const wanted = { limit, page, order, filter, isWanted: isOnSession };
    return c.json(await listedEvents(deps, `events of ${id} ${order}`, id, wanted));
  });

  routes.post("/sessions/:session/events", async (c) => c.json(await sendEvents(deps, c)));

  routes.get("/sessions/:session/events/stream", async (c) => {
    const { project } = requireRole(c, "viewer");
    const { event_deltas: deltas = [] } = readQuery(c, streamQueryV1);
    const record = await findSession(deps, project, param(c, "session"));
    return streamEvents(deps, c, record, { deltas, isWanted: isOnSession });
  });

  return routes;
}

type Listed = Omit<EventPage, "from"> & { readonly page: string | undefined };

export async function listedEvents(
  { runtime }: Pick<ServerDeps, "runtime">,
  list: string,
  sessionId: string,
  { page, ...wanted }: Listed,
) {
  const at = readCursor(list, page)?.at;
  const from = at === undefined ? undefined : Number(at);
  const { events, hasMore } = await readPage(runtime, sessionId, { ...wanted, from });
  const last = events.at(-1);
  const next = hasMore && last !== undefined ? writeCursor(list, { at: String(last.seq) }) : null;
  return { data: events.map(wireEvent), next_page: next };
}

interface Streamed {
  readonly deltas: ConstructorParameters<typeof PreviewFilter>[0];
  readonly isWanted: (event: EvaluatedEvent) => boolean;
}

/** Streams new events and those just sent; with `Last-Event-ID`, everything since that event. */
export async function streamEvents(
  deps: V1Deps,
  c: Context<Env>,
  record: SessionRecord,
  { deltas, isWanted }: Streamed,
): Promise<Response> {
  const { runtime, watchers } = deps;
  // Registered before the client knows that it is connected, so that it misses nothing it does then.
  const watcher = { sessionId: record.id, callerId: c.get("caller").id };
  const sent = watchers.takeSent(watcher);
  const isResumed = (c.req.header("last-event-id") ?? "") !== "";
  const head = await runtime.head(record.id);
  const start = isResumed ? 0 : (sent ?? head);
  const previews = new PreviewFilter(deltas);
  const response = eventStream(c, {
    head,
    follow: (after, signal) =>
      watchers.watch(watcher, evaluate(runtime.events(record.id, { after: Math.max(after, start), signal }))),
    show: (item) => {
      if (!("seq" in item)) return previews.isShown(item) ? item : undefined;
      previews.conclude(item.id);
      return isWanted(item) ? wireEvent(item) : undefined;
    },
  });
  wake(runtime, c, record);
  return response;
}
