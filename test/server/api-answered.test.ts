import { afterAll, beforeAll, expect, test } from "vitest";
import { CapstanApiError, type CapstanClient, createClient } from "../../src/client/index.ts";
import { spender } from "../store/contract/spending.ts";
import type { Person } from "../support/api-app.ts";
import { type People, people, session } from "../support/api-people.ts";
import { example } from "../support/event-examples.ts";
import { order } from "../support/obedient-model.ts";
import { until } from "../support/until.ts";

let all: People;
beforeAll(async () => {
  all = await people();
});
afterAll(() => all.api[Symbol.asyncDispose]());

const touch = (name: string): string => order(["Bash", { command: `touch ${name}` }]);

async function pendingIn(person: Person, id: string): Promise<string> {
  const { body } = await person.get(`/api/approvals?status=pending&session_id=${id}&wait=20`);
  return body.data[0].id as string;
}

test("the second of two answers is told who was first, with what and when", async () => {
  const { operator, api } = all;
  const client = (key: string): CapstanClient =>
    createClient({
      baseUrl: "http://127.0.0.1",
      apiKey: key,
      fetch: async (url, init) => api.app.request(url instanceof Request ? url : url.toString(), init),
    });
  const [first, second] = [client((await api.as("admin")).key), client(operator.key)];
  const id = await session(operator, touch("race.txt"));
  const approval = await pendingIn(operator, id);
  const { answer } = await first.approvals.answer(approval, { behavior: "deny", message: "a secret reason" });
  const refused: unknown = await second.approvals
    .answer(approval, { behavior: "allow" })
    .catch((thrown: unknown) => thrown);
  if (!(refused instanceof CapstanApiError)) throw new Error("It was not refused.");
  expect(refused).toMatchObject({ status: 409, type: "conflict_error", code: "approval_closed" });
  expect(refused.details).toEqual({
    error_code: "approval_closed",
    by: "admin-key",
    at: answer?.at,
    behavior: "deny",
  });
  for (const fact of ["admin-key", '"deny"', answer?.at]) expect(refused.message).toContain(fact);
  // The same after the session has acted on it.
  await until(
    () => second.approvals.get(approval),
    ({ status }) => status === "settled",
  );
  const later: unknown = await second.approvals
    .answer(approval, { behavior: "allow" })
    .catch((thrown: unknown) => thrown);
  expect(later).toMatchObject({ details: refused.details, message: refused.message });
});

test("lists only the last closed approvals, and all pending ones", async () => {
  const { operator, viewer } = all;
  const id = await session(operator, touch("listed.txt"));
  const approval = await pendingIn(operator, id);
  const ids = async (query: string): Promise<string[]> => {
    const { body } = await viewer.get(`/api/approvals?${query}`);
    return (body.data as { id: string }[]).map((one) => one.id);
  };
  const every = await ids("limit=1000");
  expect(every.length).toBeGreaterThan(1);
  expect(every).toEqual(every.toSorted());
  expect(await ids("limit=1")).toEqual(every.slice(-1));
  const settled = await ids("status=settled");
  expect(await ids("status=settled&limit=1")).toEqual(settled.slice(-1));
  expect(await ids("status=pending&limit=1")).toEqual([approval]);
  expect(await ids(`limit=5&after=${every.at(-2)}`)).toEqual(every.slice(-1));
  for (const limit of ["0", "1001", "x"])
    expect((await viewer.get(`/api/approvals?limit=${limit}`)).body.error.message).toContain("limit");
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny" });
});

test("by default lists the last two hundred closed approvals, and all pending ones", async () => {
  const { viewer, api } = all;
  const many = await spender(api.store, "sesn_many", { project: api.project });
  const ids = Array.from({ length: 205 }, (_, index) => `appr_many_${String(index).padStart(3, "0")}`);
  const asked = ids.map((id) => example("capstan.approval_requested", { id: `sevt_${id}`, approval_id: id }));
  await many.append(...asked);
  const listed = async (query = ""): Promise<string[]> => {
    const { body } = await viewer.get(`/api/approvals?session_id=sesn_many${query}`);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  expect(await listed("&status=pending")).toEqual(ids);
  await many.append(
    ...ids.map((id) => example("capstan.permission_decided", { id: `sevt_d_${id}`, approval_id: id, call_id: id })),
  );
  expect(await listed("&status=settled")).toEqual(ids.slice(-200));
  expect(await listed()).toEqual(ids.slice(-200));
  expect(await listed("&limit=1000")).toEqual(ids);
});
