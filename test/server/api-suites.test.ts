import { afterAll, beforeAll, expect, test } from "vitest";
import { HTML_REPORT_POLICY, htmlReport } from "../../src/eval/reports/html.ts";
import { type People, people } from "../support/api-people.ts";
import { richRun, sampleRun, sampleSuite } from "../support/suite-run.ts";

let all: People;
beforeAll(async () => {
  all = await people();
  const { store, project } = all.api;
  await store.suiteRuns.add({ ...richRun(), project });
  const suites = [sampleSuite("answers")];
  await store.suiteRuns.add(sampleRun({ id: "run_0002", project, startedAt: "2026-03-02T08:00:00.000Z", suites }));
});
afterAll(() => all.api[Symbol.asyncDispose]());

test("suites are listed with their last run", async () => {
  const { status, body } = await all.viewer.get("/api/suites");
  expect(status).toBe(200);
  expect(body.data).toMatchObject([
    { suite: "answers", cases: 1, last_run: { id: "run_0002", started_at: "2026-03-02T08:00:00.000Z", exit_code: 0 } },
    {
      suite: "refactor",
      file: "suites/refactor.test.yaml",
      agent: "refactorer",
      cases: 5,
      counts: { passed: 2, failed: 1, error: 1, not_run: 1, skipped: 0 },
      unpriced_trials: 1,
      last_run: { id: "run_0001", mode: "replay", cases: 7, suites: ["refactor", "answers"] },
    },
  ]);
});

test("runs are listed newest first, by suite, and in pages", async () => {
  const idsOf = async (query: string): Promise<string[]> =>
    (await all.viewer.get(`/api/suites/runs${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect(await idsOf("")).toEqual(["run_0002", "run_0001"]);
  expect(await idsOf("?suite=refactor")).toEqual(["run_0001"]);
  expect(await idsOf("?limit=1")).toEqual(["run_0002"]);
  expect(await idsOf("?limit=1&after=run_0002")).toEqual(["run_0001"]);
  const wrong = await all.viewer.get("/api/suites/runs?limit=0&name=x");
  expect([wrong.status, wrong.body.error.message]).toEqual([400, expect.stringMatching(/limit[\s\S]*name/)]);
});

test("a run is served whole, as its JSON report is", async () => {
  const { status, body } = await all.viewer.get("/api/suites/runs/run_0001");
  expect(status).toBe(200);
  expect(body).toEqual({ ...richRun(), project: all.api.project });
});

test("the report is served as a page that may do nothing but show itself", async () => {
  const { status, response } = await all.viewer.get("/api/suites/runs/run_0001/report.html");
  expect(status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=UTF-8");
  expect(response.headers.get("content-security-policy")).toBe(HTML_REPORT_POLICY);
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await response.text()).toBe(htmlReport({ ...richRun(), project: all.api.project }));
});

test.each(["", "/report.html"])("what is not there, or another project's, is not found: {id}%s", async (rest) => {
  for (const [person, id] of [
    [all.viewer, "run_none"],
    [all.stranger, "run_0001"],
  ] as const) {
    const { status, body } = await person.get(`/api/suites/runs/${id}${rest}`);
    expect(status).toBe(404);
    expect(body.error.message).toBe(`Not found: run "${id}". List them to find the id.`);
  }
});

test("a run is deleted by an admin of its project, and by nobody else", async () => {
  const { store, project } = all.api;
  const suites = [sampleSuite("answers"), sampleSuite("once")];
  await store.suiteRuns.add(sampleRun({ id: "run_0003", project, startedAt: "2026-03-03T08:00:00.000Z", suites }));
  const path = "/api/suites/runs/run_0003";
  for (const person of [all.viewer, all.operator]) {
    const { status, body } = await person.send("DELETE", path);
    expect([status, body.error.message]).toEqual([403, expect.stringContaining("requires a key with the role admin")]);
  }
  expect((await all.stranger.send("DELETE", path)).status).toBe(404);
  expect((await all.api.app.request(path, { method: "DELETE" })).status).toBe(401);
  expect((await all.viewer.get(path)).status).toBe(200);

  const { status, body } = await all.admin.send("DELETE", path);
  expect([status, body]).toEqual([200, { id: "run_0003", deleted: true }]);
  for (const gone of [await all.admin.send("DELETE", path), await all.viewer.get(path)]) {
    expect(gone.status).toBe(404);
    expect(gone.body.error.message).toBe('Not found: run "run_0003". List them to find the id.');
  }
  // What it was the last run of has the one before, or is not there.
  expect((await all.viewer.get("/api/suites")).body.data).toMatchObject([
    { suite: "answers", last_run: { id: "run_0002" } },
    { suite: "refactor" },
  ]);
});

test("another project has none, and nobody without a key has any", async () => {
  for (const path of ["/api/suites", "/api/suites/runs"]) {
    expect((await all.stranger.get(path)).body.data).toEqual([]);
    expect((await all.api.app.request(path)).status).toBe(401);
  }
});
