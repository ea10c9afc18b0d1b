import { z } from "zod";
import type { AuditRecord } from "../../../core/session/audit.ts";
import { CapstanError, messageOf } from "../../../core/errors.ts";

const position = z.int().nonnegative();

/** The lines of an exported audit, described in docs/audit.md. */
const auditRecord = z.discriminatedUnion("record", [
  z.strictObject({
    record: z.literal("header"),
    capstan_audit: z.literal(1, "this Capstan reads audits of version 1"),
    made_at: z.string(),
    complete: z.boolean(),
    keys: z.array(z.strictObject({ id: z.string(), public_key: z.string() })),
    anchor: z.strictObject({ seq: position, hash: z.string() }).nullable(),
  }),
  z.strictObject({
    record: z.literal("seal"),
    seq: position,
    at: z.int(),
    kind: z.enum(["created", "head", "deleted", "restored", "accepted"]),
    session_id: z.string(),
    head_seq: position,
    head_hash: z.string(),
    note: z.string(),
    previous: z.string(),
    key_id: z.string(),
    hash: z.string(),
    signature: z.string(),
  }),
  z.strictObject({
    record: z.literal("session"),
    session_id: z.string(),
    head_seq: position,
    head_hash: z.string(),
    deleted: z.boolean(),
    project: z.string(),
    agent: z.string(),
    turns: position,
    usd: z.number(),
  }),
  z.strictObject({
    record: z.literal("event"),
    session_id: z.string(),
    seq: position,
    event: z.string(),
    hash: z.string(),
  }),
  z.strictObject({
    record: z.literal("ledger"),
    event_id: z.string(),
    session_id: z.string(),
    seq: position,
    at: z.int(),
    project: z.string(),
    agent: z.string(),
    thread: z.string(),
    model: z.string(),
    tools: z.string(),
    billing: z.string(),
    input_tokens: position,
    output_tokens: position,
    cache_read_tokens: position,
    cache_write_tokens: position,
    cache_write_1h_tokens: position,
    web_searches: position,
    usd: z.number().nullable(),
    estimated: position,
  }),
  z.strictObject({
    record: z.literal("reservation"),
    id: z.string(),
    session_id: z.string(),
    usd: z.number(),
    input_tokens: position,
    output_tokens: position,
    cache_tokens: position,
  }),
  z.strictObject({
    record: z.literal("spend"),
    scope: z.string(),
    key: z.string(),
    bucket: z.int(),
    billing: z.string(),
    usd: z.number(),
    input_tokens: position,
    output_tokens: position,
    cache_tokens: position,
    turns: position,
    tool_calls: position,
    unpriced: position,
  }),
]);

export function parseAuditRecord(line: string, number: number): AuditRecord {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (thrown) {
    throw invalid(number, `it is not JSON (${messageOf(thrown)})`);
  }
  const parsed = auditRecord.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(number, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not valid"}`);
}

function invalid(line: number, problem: string): CapstanError {
  return new CapstanError(
    "invalid_input",
    `Line ${line} is not a line of an exported audit. ${problem}. Export it again with: capstan audit export`,
    { data: { line, problem } },
  );
}
