import { z } from "zod";
import { agentDefinition } from "../../core/agent/agent-definition.ts";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import { environmentDefinition } from "../../core/environment/environment.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { type EventDraft, sessionEvent, type SessionEvent } from "../../core/events/events.ts";
import { withoutRedacted } from "../../core/session/redaction-session.ts";
import { initialState, inTurn, reduce, type SessionState } from "../../core/session/state.ts";
import { MAX_OUTPUT_BYTES, MAX_SESSION_OUTPUT_BYTES } from "../../core/tool-output/tool-outputs.ts";
import { type LeaseOwner, PLAIN_SESSION, type SessionRecord, type Store } from "../../core/ports/store.ts";
import { reachOf } from "./archive-reach.ts";
import { FORMAT, outputOf, PAGE } from "./export-session.ts";
import { settleOpenWork } from "../calls/settle-work.ts";

/**
 * A session as JSON lines, for backup or transfer to another store: a header, then one line per event. The engine's
 * transcript is not included; the engine's view is rebuilt from the events.
 */

const LEASE_MS = 60_000;
/** Limit for one output in base64, with room for the line that says what was cut. */
const MOST_BASE64 = 2 * MAX_OUTPUT_BYTES;

const header = z.strictObject({
  capstan: z.literal(FORMAT, `this version of Capstan reads archives of version ${FORMAT}`),
  session: z
    .strictObject({
      id: z.string().min(1),
      createdAt: z.number().int(),
      project: z.string().min(1),
      agent: agentDefinition,
      environment: environmentDefinition.prefault({}),
      cwd: z.string(),
      source: z.string().optional(),
      title: z.string().nullable(),
      metadata: z.record(z.string(), z.string()).optional(),
      ownProgram: z.boolean().default(false),
      forkedFrom: z.strictObject({ sessionId: z.string(), seq: z.number().int() }).nullable(),
      // Ignored: these values refer to another store.
      agentRef: z.unknown().optional(),
      environmentId: z.unknown().optional(),
      resources: z.unknown().optional(),
      archivedAt: z.unknown().optional(),
    })
    // The archive contains placeholders for secrets, not the secrets.
    .transform(withoutRedacted),
  head: z.number().int().nonnegative(),
});

/** A tool's output. Follows the event that refers to it. */
const outputLine = z.strictObject({
  output: z.string().regex(/^[0-9a-f]{64}$/),
  content: z.base64().max(MOST_BASE64, "larger than an output may be"),
});

const entry = z.strictObject({ seq: z.number().int().positive(), hash: z.string(), event: z.unknown() });

/** The hash functions of the store's hash chain. */
export interface ChainHashes {
  genesisHash(sessionId: string): string;
  eventHash(link: { previous: string; sessionId: string; seq: number; text: string }): string;
  /** Hashes a tool's full output. */
  contentHash(content: Buffer): string;
}

export interface ImportDeps {
  readonly ids: Ids;
  readonly clock: Clock;
  /** Holds the new session's lease while events are appended. */
  readonly owner: LeaseOwner;
  readonly chain: ChainHashes;
  /** Import even if the archive's agent would act on this machine without asking. Default: false. */
  readonly trust?: boolean | undefined;
}

/**
 * Creates a session from an archive and returns its id. Reads and checks the whole archive before it saves anything.
 * Rejects an untrusted archive whose agent would act without asking. If an append fails, deletes what was saved. Events
 * keep their content and ids. A turn that was in progress is ended. An archive contains no files, so if the events
 * refer to a workspace, one more event says that it is gone.
 */
export async function importSession(
  store: Store,
  lines: AsyncIterable<string> | Iterable<string>,
  { ids, clock, owner, chain, trust = false }: ImportDeps,
): Promise<string> {
  const { session, events: archived, outputs } = await readArchive(lines, chain);
  const state = archived.reduce((folded, event, index) => reduce(folded, event, index + 1), initialState);
  const reach = trust ? [] : reachOf(session, archived);
  if (reach.length > 0) throw untrustedArchiveError(reach);
  const events = [...archived, ...leftBehind(state, { ids, clock })];
  const id = ids.next("sesn");
  await store.createSession({ ...withoutWorkspace(session), id, createdAt: clock.now(), forkedFrom: null });
  const lease = await store.leases.acquire(id, owner, LEASE_MS);
  try {
    // Outputs first: the events refer to them.
    for (const content of outputs) await store.toolOutputs.write(id, content);
    for (let after = 0; after < events.length; after += PAGE)
      await store.append(id, { after, events: events.slice(after, after + PAGE), fence: lease.fence, isPast: true });
  } catch (thrown) {
    // The store's first error is the one to report.
    await store.deleteSession(id, lease.fence).catch(() => {});
    throw thrown;
  }
  await store.leases.release(lease);
  return id;
}

function untrustedArchiveError(reach: readonly string[]): CapstanError {
  return new CapstanError(
    "not_allowed",
    `The agent in this archive would act on this machine without asking you:\n${reach.map((line) => `  ${line}\n`).join("")}Nothing was imported. If you trust the person who created the archive, import it with --trust.`,
    { data: { reach } },
  );
}

function leftBehind(state: SessionState, { ids, clock }: Pick<ImportDeps, "ids" | "clock">): SessionEvent[] {
  const { files } = state;
  const drafts: EventDraft[] = [
    // Do not continue another person's turn automatically.
    ...(inTurn(state) ? [{ type: "user.interrupt" } as const, ...settleOpenWork(state), ENDED] : []),
    ...(files.workspace === undefined && files.last === undefined
      ? []
      : [{ type: "capstan.workspace_removed", reason: "imported" } as const]),
  ];
  const processed_at = new Date(clock.now()).toISOString();
  return drafts.map((draft) => ({ ...draft, id: ids.next("sevt"), processed_at }));
}

const ENDED: EventDraft = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };

/** The archive contains no files: the session continues in a directory of the person who imports it. */
function withoutWorkspace(session: ArchivedSession): Omit<SessionRecord, "id"> {
  const { environment, source = session.cwd, metadata = {}, ownProgram } = session;
  const workspace = environment.workspace.kind === "in-place" ? environment.workspace : IN_PLACE;
  const place = { environment: { ...environment, workspace }, cwd: source, source };
  return { ...session, ...PLAIN_SESSION, metadata, ownProgram, ...place };
}

const IN_PLACE = environmentDefinition.parse({}).workspace;

type ArchivedSession = z.infer<typeof header>["session"];

interface Archive {
  readonly session: ArchivedSession;
  readonly events: readonly SessionEvent[];
  readonly outputs: readonly Buffer[];
}

async function readArchive(lines: AsyncIterable<string> | Iterable<string>, chain: ChainHashes): Promise<Archive> {
  const events: SessionEvent[] = [];
  const outputs: Buffer[] = [];
  let room = MAX_SESSION_OUTPUT_BYTES;
  let head: z.infer<typeof header> | undefined;
  let previous = "";
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    const value = parseJson(line, number);
    if (head === undefined) {
      head = check(header, { value, number });
      previous = chain.genesisHash(head.session.id);
    } else if (typeof value === "object" && value !== null && "output" in value) {
      const content = readOutputLine(value, { number, last: events.at(-1), chain });
      room -= content.length;
      if (room < 0) throw invalid(number, "output: the outputs exceed what a session may keep");
      outputs.push(content);
    } else {
      const { event, hash } = readEntry(value, { number, expected: events.length + 1, head: head.head });
      const text = JSON.stringify(event);
      if (chain.eventHash({ previous, sessionId: head.session.id, seq: events.length + 1, text }) !== hash)
        throw invalid(number, "hash: does not match the event, which was altered, inserted or moved");
      events.push(event);
      previous = hash;
    }
  }
  if (head === undefined) throw invalid(number + 1, "the archive is empty");
  if (events.length < head.head)
    throw invalid(number + 1, `the archive is incomplete: it has ${events.length} of ${head.head} events`);
  return { session: head.session, events, outputs };
}

function readOutputLine(
  value: unknown,
  {
    number,
    last,
    chain,
  }: { readonly number: number; readonly last: SessionEvent | undefined; readonly chain: ChainHashes },
): Buffer {
  const { output, content } = check(outputLine, { value, number });
  const bytes = Buffer.from(content, "base64");
  if (last === undefined || outputOf(last) !== output)
    throw invalid(number, "output: the event before it does not refer to it");
  if (chain.contentHash(bytes) !== output) throw invalid(number, "output: the content does not match the hash");
  return bytes;
}

function readEntry(
  value: unknown,
  { number, expected, head }: { readonly number: number; readonly expected: number; readonly head: number },
): { readonly event: SessionEvent; readonly hash: string } {
  const { seq, hash, event } = check(entry, { value, number });
  if (expected > head) throw invalid(number, `seq: found an event after the last one, ${head}`);
  if (seq !== expected) throw invalid(number, `seq: expected ${expected}, found ${seq}`);
  check(sessionEvent, { value: event, number, at: "event" });
  // Return the event as written, with its keys in order: the hash covers the raw text, not the parsed result.
  return { event: event as SessionEvent, hash };
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (thrown) {
    throw invalid(number, `not valid JSON (${messageOf(thrown)})`);
  }
}

function check<T>(
  schema: z.ZodType<T>,
  { value, number, at }: { readonly value: unknown; readonly number: number; readonly at?: string },
): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => {
    const path = [...(at === undefined ? [] : [at]), ...issue.path].join(".");
    return path === "" ? issue.message : `${path}: ${issue.message}`;
  });
  throw invalid(number, problems.join("; "));
}

function invalid(line: number, problem: string): CapstanError {
  return new CapstanError(
    "invalid_input",
    `Line ${line} of the archive is not valid. ${problem}. Nothing was imported. Export the session again.`,
    { data: { line, problem } },
  );
}
