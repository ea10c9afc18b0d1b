import { expect, test } from "vitest";
import { people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";

test("callers who may read a session, and no others, can read the full output of a call", async () => {
  const all = await people({ agent: { permissions: { allow: ["Bash(seq *)"] } } });
  await using _api = all.api;
  const id = await session(all.operator, order(["Bash", { command: "seq 1 30000" }]));
  const { body } = await all.viewer.get(`/api/sessions/${id}/events?types=agent.tool_result`);
  const [result] = body.data as { call_id: string }[];
  const output = `/api/sessions/${id}/calls/${result?.call_id ?? ""}/output`;
  const { status, response } = await all.viewer.get(output);
  expect([status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  expect(await response.text()).toBe(Array.from({ length: 30_000 }, (_, index) => `${index + 1}\n`).join(""));
  expect((await all.viewer.get(`/api/sessions/${id}/calls/toolu_none/output`)).status).toBe(404);
  expect((await all.stranger.get(output)).status).toBe(404);
});
