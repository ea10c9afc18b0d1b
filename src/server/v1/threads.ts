import { Hono } from "hono";
import type { SessionRecord } from "../../core/ports/store.ts";
import { streamQueryV1, threadEventList } from "../../protocol/v1/events.ts";
import { notSupported } from "../../protocol/v1/refusal.ts";
import { threadList } from "../../protocol/v1/sessions.ts";
import { isOnThread, primaryThreadId, Threads } from "../../protocol/v1/threads.ts";
import { type Env, requireRole } from "../http/context.ts";
import { storedAgentOf, findSession, notFound } from "../http/lookup.ts";
import type { V1Deps } from "./deps.ts";
import { listedEvents, streamEvents } from "./events.ts";
import { eventsAfter } from "./log.ts";
import { readListPage, param, readQuery, requireNoQuery } from "./request.ts";

export function threadRoutes(deps: V1Deps): Hono<Env> {
  const { runtime, clock } = deps;
  const routes = new Hono<Env>();

  routes.get("/sessions/:session/threads", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, threadList);
    const record = await findSession(deps, project, param(c, "session"));
    const threads = await threadsOf(record);
    const wanted = threads.all().filter(({ status }) => query.statuses?.includes(status) !== false);
    const { items, next_page } = await readListPage(`threads of ${record.id}`, query, {
      read: async ({ limit, after }) => {
        const start = after === undefined ? 0 : wanted.findIndex(({ id }) => id === after) + 1;
        return wanted.slice(start, start + limit);
      },
      at: ({ id }) => id,
    });
    const context = { agent: await storedAgentOf(deps, record), now: clock.now() };
    return c.json({ data: items.map((thread) => threads.view(thread, context)), next_page });
  });

  routes.get("/sessions/:session/threads/:thread", async (c) => {
    const { project } = requireRole(c, "viewer");
    requireNoQuery(c);
    const record = await findSession(deps, project, param(c, "session"));
    const threads = await threadsOf(record);
    const thread = threads.get(param(c, "thread"));
    if (thread === undefined) throw notFound("thread", param(c, "thread"));
    return c.json(threads.view(thread, { agent: await storedAgentOf(deps, record), now: clock.now() }));
  });

  routes.post("/sessions/:session/threads/:thread/archive", async (c) => {
    const { project } = requireRole(c, "operator");
    const record = await findSession(deps, project, param(c, "session"));
    await requireThread(record, param(c, "thread"));
    throw notSupported("archiving a single thread", "Archive the session when it is done.");
  });

  routes.get("/sessions/:session/threads/:thread/events", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, threadEventList);
    const record = await findSession(deps, project, param(c, "session"));
    const thread = await requireThread(record, param(c, "thread"));
    const primary = primaryThreadId(record.id);
    return c.json(
      await listedEvents(deps, `events of ${thread}`, record.id, {
        ...query,
        order: "asc",
        filter: {},
        isWanted: (event) => isOnThread(event, thread, primary),
      }),
    );
  });

  routes.get("/sessions/:session/threads/:thread/stream", async (c) => {
    const { project } = requireRole(c, "viewer");
    const { event_deltas: deltas = [] } = readQuery(c, streamQueryV1);
    const record = await findSession(deps, project, param(c, "session"));
    const thread = await requireThread(record, param(c, "thread"));
    const primary = primaryThreadId(record.id);
    return streamEvents(deps, c, record, {
      // Only the primary thread has previews.
      deltas: thread === primary ? deltas : [],
      isWanted: (event) => isOnThread(event, thread, primary),
    });
  });

  async function threadsOf(record: SessionRecord): Promise<Threads> {
    const threads = new Threads(record);
    for await (const event of eventsAfter(runtime, record.id, 0)) threads.add(event);
    return threads;
  }

  async function requireThread({ id }: SessionRecord, thread: string): Promise<string> {
    if (thread === primaryThreadId(id)) return thread;
    const { threads } = await runtime.state(id);
    if (!Object.hasOwn(threads, thread)) throw notFound("thread", thread);
    return thread;
  }

  return routes;
}
