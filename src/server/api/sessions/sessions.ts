import { z } from "zod";
import { listOf } from "../../../protocol/api/common.ts";
import { requireNoProgram } from "../../../runtime/recovery/take-overs.ts";
import { forkInput, sessionPatch } from "../../../protocol/api/session-requests.ts";
import { sessionQuery } from "../../../protocol/api/sessions.ts";
import { firstEvent } from "../../stream/turn-start.ts";
import { agentOf, findSession } from "../../http/lookup.ts";
import { archiveSession, deleteSession } from "../../files/archive-session.ts";
import { session, sessionInput, sessionWithState } from "../document/components.ts";
import { type ApiDeps, offered } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { limitedUsd, requireStricter } from "../limits.ts";
import { chosenPlace } from "../places.ts";
import { saidContent } from "../../files/content.ts";
import { planSession } from "./session-plan.ts";
import { shownSession, shownSessions } from "./session-view.ts";

const tag = "Sessions";

/** Sessions as a whole: find them, start them, change them. What is said in them is in session-events.ts. */
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
      description: "Last active first.",
      query: sessionQuery,
      answer: listOf(session),
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
      // Either looks at every session there is.
      const isSearch = search !== undefined || named !== undefined;
      const found = isSearch
        ? await offered(deps.findSessions, "a search")({ query: wanted, named, limit }, asking)
        : await runtime.sessions({ ...wanted, limit });
      return { data: await shownSessions(deps, project, found) };
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
        "Of a stored agent, of a definition that is given (admins only), or of the server's own agent for the project; in a stored environment, in one that is given (admins only), or in the project's directory.",
      body: sessionInput,
      answer: sessionWithState,
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
      return shownSession(deps, started.record);
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
      description: "With its state: what it is in the middle of.",
      answer: sessionWithState,
    },
    async ({ caller, params: { id } }) => shownSession(deps, await findSession(deps, caller.project, id)),
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
        "Its title, metadata and limit in USD; the model and the mode that it goes on with. Above the agent's own limit, or in a mode that allows more than the agent's own: admins only.",
      body: sessionPatch,
      answer: sessionWithState,
    },
    async ({ caller, params: { id }, body: { title, metadata, max_usd: maxUsd, engine, model, mode } }) => {
      const record = await findSession(deps, caller.project, id);
      const own = (await agentOf(deps, record))?.definition ?? record.agent;
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
      return shownSession(deps, await findSession(deps, caller.project, id));
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
      description: "A new session with the conversation of this one up to a place in its log; it inherits no grants.",
      body: forkInput,
      answer: sessionWithState,
      status: 201,
    },
    async ({ caller, params: { id }, body: { at, cwd } }) => {
      const parent = await findSession(deps, caller.project, id);
      requireNoProgram(parent);
      const { source } = parent;
      const place = cwd === undefined ? undefined : await chosenPlace(deps, { caller, cwd, given: source });
      const forked = await runtime.forkSession(id, {
        ...(at !== undefined && { at }),
        ...(place !== undefined && { cwd: place }),
      });
      return shownSession(deps, forked.record);
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
      description: "From then on it can be read, and nothing else. One that is running must be interrupted first.",
      answer: sessionWithState,
    },
    async ({ caller, params: { id } }) => {
      const record = await findSession(deps, caller.project, id);
      return shownSession(deps, await archiveSession(deps, record));
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
        "Erases what was said and done, and its workspace. What it cost stays in the ledger. One that is running must be interrupted first.",
      answer: z.object({ id: z.string(), deleted: z.literal(true) }),
    },
    async ({ caller, params: { id } }) => {
      await deleteSession(deps, await findSession(deps, caller.project, id));
      return { id, deleted: true as const };
    },
  );
}
