import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../../src/core/events/events.ts";
import type { Store } from "../../../src/core/ports/store.ts";
import { parseAuditRecord } from "../../../src/store/sqlite/audit/audit-file.ts";
import { checkAudit } from "../../../src/store/sqlite/audit/audit-check.ts";
import { auditRecords } from "../../../src/store/sqlite/audit/audit-records.ts";
import { type Audited, openAudited } from "../audited-store.ts";
import { MINUTE, NOON, sampleOwner, sampleSession } from "../samples.ts";
import { temporaryDirectory } from "../temporary.ts";

const at = { processed_at: new Date(NOON).toISOString() };
const span = { model: "claude-opus-4-8", request_class: "main", billing: "paid" } as const;
const ESTIMATE = { input: 70, cache: 5, output: 30, usd: 0.25 };

function request(id: string, usd: number | null): SessionEvent[] {
  const usage = { input_tokens: 7, output_tokens: 3, cache_read_input_tokens: 2, cache_creation_input_tokens: 1 };
  return [
    { type: "span.model_request_start", id: `${id}_start`, ...at, ...span, estimate: ESTIMATE },
    {
      type: "span.model_request_end",
      id: `${id}_end`,
      ...at,
      ...span,
      model_request_start_id: `${id}_start`,
      is_error: false,
      model_usage: usage,
      usd,
      http_status: 200,
      stop_reason: "end_turn",
      estimated: false,
    },
  ];
}

/** A turn with two requests, one of them without a price, and one that is still under way. */
async function spend(store: Store, id: string): Promise<number> {
  await store.createSession(sampleSession(id));
  const { fence } = await store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
  const scopes = [{ scope: "session" as const, limits: { usd: 10 } }];
  const { usd, input, output, cache } = ESTIMATE;
  const amounts = { usd, input, output, cache };
  await store.ledger.reserve({ id: `${id}_open`, sessionId: id, fence, amounts, scopes, agreed: [] });
  const events: SessionEvent[] = [
    { type: "session.status_running", id: `${id}_running`, ...at },
    ...request(`${id}_1`, 0.1),
    ...request(`${id}_2`, null),
    { type: "span.model_request_start", id: `${id}_open`, ...at, ...span, estimate: ESTIMATE },
    { type: "session.status_idle", id: `${id}_idle`, ...at, stop_reason: { type: "end_turn" }, stop_details: null },
  ];
  await store.append(id, { after: 0, fence, events });
  return fence;
}

async function fillStore(directory: string): Promise<Audited> {
  const store = openAudited(directory);
  await using open = await store.open();
  await spend(open, "sesn_a");
  await spend(open, "sesn_b");
  await open.deleteSession("sesn_c", await spend(open, "sesn_c"));
  return store;
}

test("a ledger that nobody touched is sound, also in an exported file and for one session", async () => {
  await using directory = await temporaryDirectory();
  const store = await fillStore(directory.path);
  expect(await store.verify()).toMatchObject({ sound: true, findings: [], notes: [] });
  expect(await store.verify({ session: "sesn_a" })).toMatchObject({ sound: true, findings: [] });
  const records = auditRecords({ path: store.path, now: NOON, key: store.key.load(), anchor: store.key.anchor() });
  async function* lines() {
    let line = 0;
    for await (const record of records) yield parseAuditRecord(JSON.stringify(record), ++line);
  }
  expect(await checkAudit(lines(), () => store.key.load())).toMatchObject({ sound: true });
});

describe("an audit finds", () => {
  test.each([
    ["an altered amount", "UPDATE ledger SET usd = 0.01 WHERE event_id = 'sesn_b_1_end'", "altered"],
    ["an amount put where none is known", "UPDATE ledger SET usd = 0 WHERE event_id = 'sesn_b_2_end'", "altered"],
    ["altered tokens", "UPDATE ledger SET cache_read_tokens = 0 WHERE event_id = 'sesn_b_1_end'", "altered"],
    [
      "a request moved to another day",
      "UPDATE ledger SET at = at - 86400000 WHERE event_id = 'sesn_b_1_end'",
      "altered",
    ],
    ["a request moved to another agent", "UPDATE ledger SET agent = 'x' WHERE event_id = 'sesn_b_1_end'", "altered"],
    ["a removed row", "DELETE FROM ledger WHERE event_id = 'sesn_b_1_end'", "removed"],
    [
      "an inserted row",
      "INSERT INTO ledger SELECT 'sevt_x', session_id, seq, at, project, agent, thread, model, tools, billing, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cache_write_1h_tokens, web_searches, usd, estimated FROM ledger WHERE event_id = 'sesn_b_1_end'",
      "inserted",
    ],
    ["an altered row of an erased session", "UPDATE ledger SET usd = 0 WHERE event_id = 'sesn_c_1_end'", "signed when"],
    ["a removed row of an erased session", "DELETE FROM ledger WHERE event_id = 'sesn_c_1_end'", "signed when"],
    [
      "an altered sum of a session",
      "UPDATE spend SET usd = 0 WHERE scope = 'session' AND key = 'sesn_b'",
      "total of the session",
    ],
    [
      "an altered sum of a project",
      "UPDATE spend SET usd = 0 WHERE scope = 'project' AND billing = 'paid'",
      "total of the project",
    ],
    [
      "an altered sum of a day",
      "UPDATE spend SET input_tokens = 0 WHERE scope = 'day' AND billing = 'paid'",
      "total of the day",
    ],
    ["altered turns", "UPDATE spend SET turns = 0 WHERE scope = 'agent'", "total of the agent"],
    ["a removed sum", "DELETE FROM spend WHERE scope = 'project' AND billing = 'paid'", "total of the project"],
    [
      "an inserted sum",
      "INSERT INTO spend SELECT scope, 'other', bucket, billing, -5, 0, 0, 0, 0, 0, 0 FROM spend WHERE scope = 'project' AND billing = 'paid'",
      "total of the project other",
    ],
    ["an altered sum in the list of sessions", "UPDATE sessions SET usd = 0 WHERE id = 'sesn_b'", "totals of session"],
    ["an altered reservation", "UPDATE reservations SET usd = 0 WHERE id = 'sesn_b_open'", "reserved"],
    [
      "an inserted reservation",
      "INSERT INTO reservations SELECT 'sesn_b_1_start', session_id, fence, project, agent, bucket, 999, 0, 0, 0 FROM reservations WHERE id = 'sesn_b_open'",
      "reserved",
    ],
  ])("%s", async (_what, sql, says) => {
    await using directory = await temporaryDirectory();
    const store = await fillStore(directory.path);
    using database = new DatabaseSync(store.path);
    const { changes } = database.prepare(sql).run();
    expect(changes).toBeGreaterThan(0);
    const { sound, findings } = await store.verify();
    expect(sound).toBe(false);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: "ledger", problem: expect.stringContaining(says) as string }),
    );
  });
});
