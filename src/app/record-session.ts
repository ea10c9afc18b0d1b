import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Environment } from "../config/home.ts";
import type { Configuration } from "../config/load.ts";
import { readSuite } from "../config/suite-file.ts";
import { suiteText, withCase } from "../config/suite-text.ts";
import type { InputValues } from "../core/agent-inputs.ts";
import { CapstanError } from "../core/errors.ts";
import type { StoredEvent } from "../core/events.ts";
import type { SessionRecord } from "../core/store.ts";
import type { CaseAsWritten } from "../core/suite-schema.ts";
import { fileNameOf } from "../core/file-name.ts";
import { cassettePath } from "../eval/cassette-files.ts";
import { effectsBeyond } from "../eval/side-effects.ts";
import { otherOutcomes, type SessionCase, sessionCase, writtenCase } from "../eval/session-case.ts";
import type { TrialFacts } from "../eval/trial-facts.ts";
import { hostParts } from "./host-parts.ts";
import type { HostOptions } from "./open-host.ts";
import { openStore } from "./open-store.ts";
import { openTests } from "./open-tests.ts";
import { playAgain, requirePassing } from "./play-session.ts";
import { secretsIn } from "./secrets-in.ts";
import { agentForSuite, anotherAgent, type ChosenAgent, differsIn } from "./session-agent.ts";
import { writeFixture } from "./session-fixture.ts";

export interface RecordRequest {
  readonly sessionId: string;
  /** Absolute; made when it is not there. */
  readonly suiteFile: string;
  /** Default: how the session began. */
  readonly name: string | undefined;
  /** Absolute. */
  readonly agentFile: string | undefined;
  readonly home: string;
  readonly environment: Environment;
  readonly hostOptions: (configuration: Configuration) => HostOptions;
  readonly allowSideEffects: boolean;
  readonly capstan: string;
  readonly sdk: string;
  readonly signal: AbortSignal;
}

export interface RecordedCase {
  readonly case: string;
  /** What was made or changed, the suite first. */
  readonly files: readonly string[];
  /** What a person should know; a sentence each. */
  readonly notes: readonly string[];
}

/** Makes a case of a past session, and plays it again to be sure of it. Leaves nothing behind when that does not work. */
export async function recordSession(request: RecordRequest): Promise<RecordedCase> {
  const { record, events } = await stored(request);
  const told = sessionCase(
    record,
    events.map(({ seq, event }) => ({ ...event, seq })),
  );
  requireAllowed(told, request);
  const name = request.name ?? beginning(told);
  const directory = dirname(request.suiteFile);
  const fixture = join(directory, "fixtures", fileNameOf(name));
  const cassette = cassettePath({ file: request.suiteFile }, { name }, 1);
  for (const path of [fixture, cassette])
    if (existsSync(path))
      throw new CapstanError("invalid_input", `${path} is there already. Give the case another name: --name`);
  await using undo = new AsyncDisposableStack();
  const keepsFiles = await makeFixture(fixture, { request, record, events, undo });
  const inputs = inputsOf(events);
  const agent = await chooseAgent(request, { record, inputs, fixture: keepsFiles ? fixture : undefined });
  if (agent.text !== undefined) requireShareable(request, agent.path, agent.text);
  if (agent.text !== undefined) await write(join(directory, agent.path), agent.text, undo);

  const draft = (facts: TrialFacts | undefined, trials?: number): CaseAsWritten =>
    writtenCase(told, {
      name,
      trials,
      fixture: keepsFiles ? relative(directory, fixture) : undefined,
      git: existsSync(join(record.cwd, ".git")),
      inputs: agent.inputs,
      facts,
    });
  const staged = new StagedSuite(request, agent, undo);
  const first = await staged.with(draft(undefined));
  await using tests = await openTests("replay", request.hostOptions(first.configuration));
  await makeDirectory(dirname(cassette), undo);
  undo.defer(() => rm(cassette, { force: true }));
  const facts = await playAgain({ ...first, told, record, request, cassette, tests });
  // There is one cassette, whatever the suite's default is.
  const trials = first.suite.cases.at(-1)?.trials === 1 ? undefined : 1;
  const second = await staged.with(draft(facts, trials));
  await requirePassing({ ...second, record, request, cassette, tests });
  await staged.finish();
  // All is well: what was made stays.
  undo.move();
  return {
    case: name,
    files: [
      request.suiteFile,
      ...(agent.text === undefined ? [] : [join(directory, agent.path)]),
      ...(keepsFiles ? [fixture] : []),
      cassette,
    ],
    notes: [
      ...(events.some(({ event }) => event.type === "capstan.checkpoint_taken")
        ? []
        : [`The session has no checkpoint, so the case has no fixture: put what it needs into ${fixture}.`]),
      ...otherOutcomes(told.calls, facts.calls).map((other) => `It does not go as it went in the session: ${other}.`),
    ],
  };
}

const TOLD_CALLS = 5;

/** The case is played to be sure of it, and only the model is not there then. */
function requireAllowed({ calls }: SessionCase, { allowSideEffects }: RecordRequest): void {
  const beyond = allowSideEffects ? [] : effectsBeyond(calls);
  if (beyond.length === 0) return;
  const more = beyond.length > TOLD_CALLS ? `\n… and ${beyond.length - TOLD_CALLS} more` : "";
  throw new CapstanError(
    "not_allowed",
    `To make a case of the session is to make its calls again, twice and for real, in a copy of its files. These may do something beyond that:\n${beyond.slice(0, TOLD_CALLS).join("\n")}${more}\nIf that is all right: --allow-side-effects`,
  );
}

async function stored({
  home,
  environment,
  sessionId,
}: RecordRequest): Promise<{ record: SessionRecord; events: readonly StoredEvent[] }> {
  await using store = await openStore(home, environment);
  const record = await store.session(sessionId);
  if (record === undefined)
    throw new CapstanError("not_found", `There is no session ${sessionId}. See: capstan sessions list`);
  return { record, events: await store.events(sessionId) };
}

const NAME_LENGTH = 60;

function beginning({ turns: [first = ""] }: SessionCase): string {
  return first.replaceAll(/\s+/g, " ").trim().slice(0, NAME_LENGTH).trim();
}

function inputsOf(events: readonly StoredEvent[]): InputValues {
  const given = events.find(({ event }) => event.type === "capstan.inputs_given")?.event;
  return given?.type === "capstan.inputs_given" ? given.values : {};
}

interface Making {
  readonly request: RecordRequest;
  readonly record: SessionRecord;
  readonly events: readonly StoredEvent[];
  readonly undo: AsyncDisposableStack;
}

/** False when there is nothing to put into it. */
async function makeFixture(fixture: string, { request, record, events, undo }: Making): Promise<boolean> {
  await makeDirectory(fixture, undo);
  const isWritten = await writeFixture(fixture, { home: request.home, record, events });
  // A session that works where the suite lies has the fixtures of others among its files.
  for (const name of ["fixtures", "cassettes"]) {
    const path = relative(record.cwd, join(dirname(request.suiteFile), name));
    if (!path.startsWith("..")) await rm(join(fixture, path), { recursive: true, force: true });
  }
  const files = await readdir(fixture, { recursive: true, withFileTypes: true });
  if (!isWritten || files.length === 0) {
    await rm(fixture, { recursive: true });
    if ((await readdir(dirname(fixture))).length === 0) await rmdir(dirname(fixture));
    return false;
  }
  for (const file of files.filter((one) => one.isFile())) {
    const path = join(file.parentPath, file.name);
    requireShareable(request, `${relative(fixture, path)} in the session's files`, await readFile(path, "utf8"));
  }
  return true;
}

/** Suites, agents and fixtures are for sharing. */
function requireShareable({ home, environment }: RecordRequest, what: string, text: string): void {
  const found = secretsIn(hostParts({ home, environment }).redactor)({ text });
  if (found.length === 0) return;
  throw new CapstanError(
    "invalid_cassette",
    `Nothing was recorded: ${what} holds a secret (${[...new Set(found)].join(", ")}), and what is made here is for sharing.`,
  );
}

/** A suite that is there has an agent already. */
async function chooseAgent(
  { suiteFile, environment, agentFile }: RecordRequest,
  about: { record: SessionRecord; inputs: InputValues; fixture: string | undefined },
): Promise<ChosenAgent> {
  const directory = dirname(suiteFile);
  if (!existsSync(suiteFile)) return agentForSuite({ ...about, directory, environment, agentFile });
  const { configuration } = await readSuite(suiteFile, environment);
  const others = differsIn(configuration, about);
  if (others.length > 0) throw anotherAgent(`The agent of ${suiteFile}`, others);
  return { path: "", inputs: about.inputs, text: undefined };
}

/** The suite with the new case, under another name beside it until all is well. */
class StagedSuite {
  readonly #request: RecordRequest;
  readonly #agent: ChosenAgent;
  readonly #file: string;

  constructor(request: RecordRequest, agent: ChosenAgent, undo: AsyncDisposableStack) {
    const { suiteFile } = request;
    this.#request = request;
    this.#agent = agent;
    this.#file = join(dirname(suiteFile), `.${process.pid}.${basename(suiteFile)}`);
    undo.defer(() => rm(this.#file, { force: true }));
  }

  async with(added: CaseAsWritten): Promise<Awaited<ReturnType<typeof readSuite>>> {
    const { suiteFile, environment } = this.#request;
    const text = existsSync(suiteFile)
      ? withCase(await readFile(suiteFile, "utf8"), added)
      : suiteText(this.#agent.path, added);
    await writeFile(this.#file, text);
    const { suite, configuration } = await readSuite(this.#file, environment);
    const name = suite.name === stemOf(this.#file) ? stemOf(suiteFile) : suite.name;
    return { suite: { ...suite, name, file: suiteFile }, configuration };
  }

  async finish(): Promise<void> {
    await rename(this.#file, this.#request.suiteFile);
  }
}

/** What a suite is called that says nothing else. */
function stemOf(file: string): string {
  return basename(file).replace(/\.test\.ya?ml$/, "");
}

async function write(file: string, text: string, undo: AsyncDisposableStack): Promise<void> {
  undo.defer(() => rm(file, { force: true }));
  await writeFile(file, text, { flag: "wx" });
}

/** What had to be made for it goes again too. */
async function makeDirectory(path: string, undo: AsyncDisposableStack): Promise<void> {
  const made = await mkdir(path, { recursive: true });
  if (made !== undefined) undo.defer(() => rm(made, { recursive: true, force: true }));
}
