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
 * A session as JSON lines, to be kept or carried to another store: a header, then one line per event. The engine's
 * transcript is not in it; the engine's view is rebuilt from the events.
 */

const LEASE_MS = 60_000;
/** Of an output; a line that says what is missing may be in it too. */
const MOST_BASE64 = 2 * MAX_OUTPUT_BYTES;

const header = z.strictObject({
  capstan: z.literal(FORMAT, `this Capstan reads archives of version ${FORMAT}`),
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
      // Whatever an archive says of these, it is about another store.
      agentRef: z.unknown().optional(),
      environmentId: z.unknown().optional(),
      resources: z.unknown().optional(),
      archivedAt: z.unknown().optional(),
    })
    // The archive has the places of secrets and not the secrets.
    .transform(withoutRedacted),
  head: z.number().int().nonnegative(),
});

/** What a tool gave, after the event that speaks of it. */
const outputLine = z.strictObject({
  output: z.string().regex(/^[0-9a-f]{64}$/),
  content: z.base64().max(MOST_BASE64, "more than is kept of an output"),
});

const entry = z.strictObject({ seq: z.number().int().positive(), hash: z.string(), event: z.unknown() });

/** The formulas of the store's hash chain. */
export interface ChainHashes {
  genesisHash(sessionId: string): string;
  eventHash(link: { previous: string; sessionId: string; seq: number; text: string }): string;
  /** Of a tool's whole output. */
  contentHash(content: Buffer): string;
}

export interface ImportDeps {
  readonly ids: Ids;
  readonly clock: Clock;
  /** Holds the new session's lease while events are appended. */
  readonly owner: LeaseOwner;
  readonly chain: ChainHashes;
  /** Whoever made the archive may have its agent do on this machine what it does without asking. Default: no. */
  readonly trust?: boolean | undefined;
}

/**
 * Makes a new session of an archive and gives its id. The whole archive is read and checked before anything is stored,
 * and one that is not trusted is refused when its agent would do something without asking; what was stored when an
 * append fails is deleted again. Events stay as they are, also the ids in them; a turn that was under way is ended, and
 * when they speak of files, which are not in an archive, one more says that these are gone.
 */
export async function importSession(
  store: Store,
  lines: AsyncIterable<string> | Iterable<string>,
  { ids, clock, owner, chain, trust = false }: ImportDeps,
): Promise<string> {
  const { session, events: archived, outputs } = await readArchive(lines, chain);
  const state = archived.reduce((folded, event, index) => reduce(folded, event, index + 1), initialState);
  const reach = trust ? [] : reachOf(session, archived);
  if (reach.length > 0) throw untrusted(reach);
  const events = [...archived, ...leftBehind(state, { ids, clock })];
  const id = ids.next("sesn");
  await store.createSession({ ...withoutWorkspace(session), id, createdAt: clock.now(), forkedFrom: null });
  const lease = await store.leases.acquire(id, owner, LEASE_MS);
  try {
    // Before the events that speak of them.
    for (const content of outputs) await store.toolOutputs.write(id, content);
    for (let after = 0; after < events.length; after += PAGE)
      await store.append(id, { after, events: events.slice(after, after + PAGE), fence: lease.fence, isPast: true });
  } catch (thrown) {
    // A store that also fails at this has said why already.
    await store.deleteSession(id, lease.fence).catch(() => {});
    throw thrown;
  }
  await store.leases.release(lease);
  return id;
}

function untrusted(reach: readonly string[]): CapstanError {
  return new CapstanError(
    "not_allowed",
    `The agent of this archive acts on this machine without asking you:\n${reach.map((line) => `  ${line}\n`).join("")}Nothing was imported. If you trust whoever made the archive, import it with --trust.`,
    { data: { reach } },
  );
}

function leftBehind(state: SessionState, { ids, clock }: Pick<ImportDeps, "ids" | "clock">): SessionEvent[] {
  const { files } = state;
  const drafts: EventDraft[] = [
    // Nobody goes on by themselves with what somebody else has begun.
    ...(inTurn(state) ? [{ type: "user.interrupt" } as const, ...settleOpenWork(state), ENDED] : []),
    ...(files.workspace === undefined && files.last === undefined
      ? []
      : [{ type: "capstan.workspace_removed", reason: "imported" } as const]),
  ];
  const processed_at = new Date(clock.now()).toISOString();
  return drafts.map((draft) => ({ ...draft, id: ids.next("sevt"), processed_at }));
}

const ENDED: EventDraft = { type: "session.status_idle", stop_reason: { type: "end_turn" }, stop_details: null };

/** The files are not in an archive: the session goes on in a directory of whoever takes it over. */
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
      if (room < 0) throw invalid(number, "output: the outputs are more than a session may keep");
      outputs.push(content);
    } else {
      const { event, hash } = readEntry(value, { number, expected: events.length + 1, head: head.head });
      const text = JSON.stringify(event);
      if (chain.eventHash({ previous, sessionId: head.session.id, seq: events.length + 1, text }) !== hash)
        throw invalid(number, "hash: the event does not match it: it was altered, inserted or moved");
      events.push(event);
      previous = hash;
    }
  }
  if (head === undefined) throw invalid(number + 1, "the archive is empty");
  if (events.length < head.head)
    throw invalid(number + 1, `the archive was cut: ${events.length} of ${head.head} events are there`);
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
    throw invalid(number, "output: the event before it does not speak of it");
  if (chain.contentHash(bytes) !== output) throw invalid(number, "output: the content does not match the hash");
  return bytes;
}

function readEntry(
  value: unknown,
  { number, expected, head }: { readonly number: number; readonly expected: number; readonly head: number },
): { readonly event: SessionEvent; readonly hash: string } {
  const { seq, hash, event } = check(entry, { value, number });
  if (expected > head) throw invalid(number, `seq: there is an event after the last one, which is ${head}`);
  if (seq !== expected) throw invalid(number, `seq: expected ${expected}, found ${seq}`);
  check(sessionEvent, { value: event, number, at: "event" });
  // As it was written, with every key in its place: the hash covers that, and not what the schema makes of it.
  return { event: event as SessionEvent, hash };
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (thrown) {
    throw invalid(number, `this is no JSON (${messageOf(thrown)})`);
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
