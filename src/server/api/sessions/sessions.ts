import { z } from "zod";
import { dataList } from "../../../protocol/api/common.ts";
import { requireNoProgram } from "../../../runtime/recovery/take-overs.ts";
import { forkInput, sessionPatch } from "../../../protocol/api/session-requests.ts";
import { sessionQuery } from "../../../protocol/api/sessions.ts";
import { firstEvent } from "../../stream/turn-start.ts";
import { storedAgentOf, findSession } from "../../http/lookup.ts";
import { archiveSession, deleteSession } from "../../files/archive-session.ts";
import { sessionComponent, sessionInputComponent, sessionWithStateComponent } from "../document/components.ts";
import { type ApiDeps, requirePort } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { limitedUsd, requireStricter } from "../limits.ts";
import { chosenDirectory } from "../session-directory.ts";
import { saidContent } from "../../files/content.ts";
import { planSession } from "./session-plan.ts";
import { readWireSession, wireSessions } from "./read-wire-session.ts";

const tag = "Sessions";

/** Finds, starts and changes sessions. For their events, see session-events.ts. */
export function addSessions(api: Api, deps: ApiDeps): void {
  const { runtime } = deps;

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions",
      role: "viewer",
      tag,
      summary: "Search sessions",
      description: "Most recently active first.",
      query: sessionQuery,
      answer: dataList(sessionComponent),
    },
    async ({ caller: { project }, asking, query }) => {
      const { search, named, status, agent, waiting, include_archived: includeArchived = true, limit } = query;
      const wanted = {
        project,
        search,
        status,
        agent,
        includeArchived,
        ...(waiting === true && { waitingAt: deps.clock.now() }),
      };
      // Both kinds of search read every session.
      const isSearch = search !== undefined || named !== undefined;
      const found = isSearch
        ? await requirePort(deps.findSessions, "a search")({ query: wanted, named, limit }, asking)
        : await runtime.sessions({ ...wanted, limit });
      return { data: await wireSessions(deps, project, found) };
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions",
      role: "operator",
      tag,
      summary: "Start a session",
      description:
        "Uses a saved agent, an inline definition (admins only), or the server's default agent for the project. Runs in a saved environment, an inline one (admins only), or the project's directory.",
      body: sessionInputComponent,
      answer: sessionWithStateComponent,
      status: 201,
    },
    async ({ caller, body, signal }) => {
      const { title, metadata, message, inputs } = body;
      const plan = await planSession(deps, caller, body);
      const content = message === undefined ? undefined : await saidContent(deps, caller, message);
      if (content !== undefined) runtime.requireRoom();
      const started = await runtime.startSession({
        ...plan,
        project: caller.project,
        ...(inputs !== undefined && { inputs }),
        ...(title !== undefined && { title }),
        ...(metadata !== undefined && { metadata }),
        signal,
      });
      if (content !== undefined) await firstEvent(started.send(content));
      return readWireSession(deps, started.record);
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/sessions/{id}",
      role: "viewer",
      tag,
      summary: "Get a session",
      description: "Includes its current state.",
      answer: sessionWithStateComponent,
    },
    async ({ caller, params: { id } }) => readWireSession(deps, await findSession(deps, caller.project, id)),
  );

  endpoint(
    api,
    {
      method: "patch",
      path: "/api/sessions/{id}",
      role: "operator",
      tag,
      summary: "Change a session",
      description:
        "Changes its title, metadata and limit in USD, and the model and mode it continues with. A limit above the agent's, or a mode that allows more than the agent's: admins only.",
      body: sessionPatch,
      answer: sessionWithStateComponent,
    },
    async ({ caller, params: { id }, body: { title, metadata, max_usd: maxUsd, engine, model, mode } }) => {
      const record = await findSession(deps, caller.project, id);
      const own = (await storedAgentOf(deps, record))?.definition ?? record.agent;
      requireStricter(caller, mode, own);
      if (engine !== undefined || model !== undefined || mode !== undefined) {
        const driven = await runtime.attend(id);
        if (engine !== undefined) await driven.setEngine(engine);
        if (model !== undefined) await driven.setModel(model);
        if (mode !== undefined) await driven.setMode(mode);
      }
      await runtime.update(id, {
        ...(title !== undefined && { title }),
        ...(metadata !== undefined && { metadata }),
        ...(maxUsd !== undefined && { maxUsd: limitedUsd(caller, maxUsd, own.budget.usd) }),
      });
      return readWireSession(deps, await findSession(deps, caller.project, id));
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/fork",
      role: "operator",
      tag,
      summary: "Fork a session",
      description: "Creates a session with the conversation of this one up to a log position. It inherits no grants.",
      body: forkInput,
      answer: sessionWithStateComponent,
      status: 201,
    },
    async ({ caller, params: { id }, body: { at, cwd } }) => {
      const parent = await findSession(deps, caller.project, id);
      requireNoProgram(parent);
      const { source } = parent;
      const place = cwd === undefined ? undefined : await chosenDirectory(deps, { caller, cwd, given: source });
      const forked = await runtime.forkSession(id, {
        ...(at !== undefined && { at }),
        ...(place !== undefined && { cwd: place }),
      });
      return readWireSession(deps, forked.record);
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/sessions/{id}/archive",
      role: "operator",
      tag,
      summary: "Archive a session",
      description: "The session becomes read-only. If it is running, interrupt it first.",
      answer: sessionWithStateComponent,
    },
    async ({ caller, params: { id } }) => {
      const record = await findSession(deps, caller.project, id);
      return readWireSession(deps, await archiveSession(deps, record));
    },
  );

  endpoint(
    api,
    {
      method: "delete",
      path: "/api/sessions/{id}",
      role: "operator",
      tag,
      summary: "Delete a session",
      description:
        "Erases its log and its workspace. Its cost stays in the ledger. If it is running, interrupt it first.",
      answer: z.object({ id: z.string(), deleted: z.literal(true) }),
    },
    async ({ caller, params: { id } }) => {
      await deleteSession(deps, await findSession(deps, caller.project, id));
      return { id, deleted: true as const };
    },
  );
}
