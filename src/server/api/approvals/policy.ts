import { resolve } from "node:path";
import { z } from "zod";
import { parseEnvironment } from "../../../core/environment/environment.ts";
import { type ReplayInput, replay, replayInput } from "../../../protocol/api/policy.ts";
import { readCall } from "../../../runtime/policy/policy-call.ts";
import { explainCall } from "../../../runtime/policy/policy-check.ts";
import { findSession } from "../../http/lookup.ts";
import { checkInputComponent, explanationComponent, replayLineComponent } from "../document/components.ts";
import { type ApiDeps, requirePort } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { chosenDirectory } from "../session-directory.ts";
import { agentFor, defaultDirectoryFor } from "../sessions/session-plan.ts";

const tag = "Policy";

export function addPolicy(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "post",
      path: "/api/policy/check",
      role: "operator",
      tag,
      summary: "Explain the decision about a call",
      description: "Runs nothing. Ignores grants, which belong to sessions.",
      body: checkInputComponent,
      answer: explanationComponent,
    },
    async ({ caller, body }) => {
      // Nothing of the definition runs, so any caller may pass one.
      const definition = body.agent_definition ?? (await agentFor(deps, caller, body)).definition;
      const { mode = definition.permissions.mode } = body;
      const cwd =
        body.cwd === undefined
          ? await defaultDirectoryFor(deps, caller)
          : await chosenDirectory(deps, { caller, cwd: body.cwd });
      const environment = (await deps.defaults?.(caller.project))?.environment ?? parseEnvironment({});
      const question = {
        call: readCall(body.call),
        agent: { ...definition, permissions: { ...definition.permissions, mode } },
        environment,
        cwd: resolve(cwd),
      };
      const explained = explainCall(requirePort(deps.policy, "policy checks"), question);
      const { behavior, decidedBy, reason, rememberable, kind, steps, remembers, subject } = explained;
      return {
        call: body.call,
        behavior,
        decided_by: decidedBy,
        reason,
        rememberable,
        kind,
        mode: explained.mode,
        steps: [...steps],
        remembers: [...remembers],
        subject,
      };
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/policy/replay",
      role: "viewer",
      tag,
      summary: "Replay decisions with different rules",
      description: "Runs nothing. Shows what the rules would decide about each recorded decision in this project.",
      body: replayInput,
      answer: replay.extend({ data: z.array(replayLineComponent) }),
    },
    async ({ c, caller, asking, body: { permissions, session_id: session, since } }) => {
      if (session !== undefined) await findSession(deps, caller.project, session);
      const request = {
        permissions: permissions satisfies ReplayInput["permissions"],
        session,
        project: caller.project,
        ...(since !== undefined && { since: Date.parse(since) }),
      };
      const json = await requirePort(deps.replayPolicy, "policy replays")(request, asking);
      return c.body(new Uint8Array(json), 200, { "content-type": "application/json" });
    },
  );
}
