import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Environment } from "../../config/project/home.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import { type ReadSuite, readSuite } from "../../config/suite/suite-file.ts";
import { TrustBook } from "../../config/trust/trust-book.ts";
import { ASSUMED_TRUST } from "../../config/trust/recorded-trust.ts";
import { trustWritten } from "../../config/trust/trust-written.ts";
import { suiteText, withCase } from "../../config/suite/suite-text.ts";
import type { InputValues } from "../../core/agent/agent-inputs.ts";
import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import { CapstanError } from "../../core/errors.ts";
import type { StoredEvent } from "../../core/events/events.ts";
import { fileNameOf } from "../../core/paths/file-name.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { cassettePath } from "../../eval/compare/cassette-files.ts";
import { keeping } from "../../eval/compare/keep-cassette.ts";
import { effectsBeyond } from "../../eval/trial/side-effects.ts";
import { otherOutcomes, type SessionCase, sessionCase, writtenCase } from "../../eval/session-case.ts";
import type { TrialFacts } from "../../eval/trial/trial-facts.ts";
import { clock } from "../clock.ts";
import { openStore } from "../open-store.ts";
import { openTests, type TestsOptions } from "./open-tests.ts";
import { playAgain, requirePassing } from "./play-session.ts";
import { type SecretsIn, secretsOfHost } from "./case-secrets.ts";
import { agentForSuite, anotherAgent, type ChosenAgent, differsIn } from "./session-agent.ts";
import { isSameFixture, makeFixture } from "./session-fixture.ts";
import { stageCase, type StagedCase } from "./staged-case.ts";

export interface RecordRequest {
  readonly sessionId: string;
  /** Absolute; created if it does not exist. */
  readonly suiteFile: string;
  /** Default: the beginning of the session. */
  readonly name: string | undefined;
  /** Absolute. */
  readonly agentFile: string | undefined;
  readonly home: string;
  readonly environment: Environment;
  readonly testsOptions: (configuration: Configuration) => TestsOptions;
  readonly allowSideEffects: boolean;
  readonly capstan: string;
  readonly sdk: string;
  readonly signal: AbortSignal;
}

export interface RecordedCase {
  readonly case: string;
  /** The created or changed files, the suite first. */
  readonly files: readonly string[];
  /** Notes for the user, one sentence each. */
  readonly notes: readonly string[];
}

/**
 * Creates a case from a past session, and replays it to make sure that it works. If it fails, leaves nothing behind.
 */
export async function recordSession(request: RecordRequest): Promise<RecordedCase> {
  const { environment, suiteFile } = request;
  const { record, events } = await readStored(request);
  const told = sessionCase(
    record,
    events.map(({ seq, event }) => ({ ...event, seq })),
  );
  requireAllowed(told, request);
  const name = request.name ?? beginning(told);
  const before = await suiteBefore(name, request);
  const directory = dirname(suiteFile);
  await using staged = await stageCase(suiteFile);
  const options = request.testsOptions(await loadConfiguration({ cwd: directory, environment, flags: {} }));
  const secretsIn = await secretsOfHost(options, record.environment.variables);
  const making: Making = { request, record, events, directory, staged, check: requireShareable(secretsIn) };
  // Other error messages name the case.
  making.check("the case's name or a message", [name, ...told.turns].join("\n"));
  const { fixture, isThere } = await stageFixture(name, making);
  const agent = await stageAgent(before, fixture, making);

  /** The text of the suite. Files created for the case are in `base`. */
  const writeSuite = async (base: string, facts?: TrialFacts, trials?: number): Promise<string> => {
    const added = writtenCase(told, {
      name,
      engine: record.agent.engine ?? DEFAULT_ENGINE,
      trials,
      fixture: fixture && join(base, fixture),
      git: existsSync(join(record.cwd, ".git")),
      inputs: agent.inputs,
      facts,
    });
    if (before !== undefined) return withCase(await readFile(suiteFile, "utf8"), added);
    return suiteText(agent.text === undefined ? agent.path : join(base, agent.path), added);
  };
  const aside = basename(staged.path);
  const cassette = relative(directory, cassettePath({ file: suiteFile }, { name }, 1));
  await using opened = await openTests("replay", options);
  const tests = { ...opened, keep: keeping({ clock, secretsIn }) };
  const playing = { record, request, tests, cassette: join(staged.path, cassette) };
  const first = await staged.read(await writeSuite(aside), environment);
  const facts = await playAgain({ ...playing, suite: first, told });
  // There is only one cassette, whatever the suite's default.
  const trials = first.cases.at(-1)?.trials === 1 ? undefined : 1;
  await requirePassing({ ...playing, suite: await staged.read(await writeSuite(aside, facts, trials), environment) });
  const agentFiles = agent.text === undefined ? [] : [agent.path];
  const fixtures = fixture === undefined ? [] : [fixture];
  const files = isThere ? agentFiles : [...agentFiles, ...fixtures];
  const suite = await writeSuite("", facts, trials);
  await staged.finish({ files, cassette, suite });
  const texts = new Map([
    [suiteFile, suite],
    ...(agent.text === undefined ? [] : [[join(directory, agent.path), agent.text] as const]),
  ]);
  const { trust } = await readSuite(suiteFile, environment, ASSUMED_TRUST);
  const book = new TrustBook(request.home);
  trustWritten(
    trust.map(({ item }) => item),
    { book, texts, by: "capstan record" },
  );
  return {
    case: name,
    files: [suiteFile, ...[...agentFiles, ...fixtures, cassette].map((file) => join(directory, file))],
    notes: [
      ...(events.some(({ event }) => event.type === "capstan.checkpoint_taken")
        ? []
        : [
            `The session has no checkpoint, so the case has no fixture. Put the files it needs into ${join(directory, fixturePath(name))}.`,
          ]),
      ...otherOutcomes(told.calls, facts.calls).map((other) => `The replay differs from the session: ${other}.`),
    ],
  };
}

const TOLD_CALLS = 5;

/** The case is replayed for verification, and everything except the model is real. */
function requireAllowed({ calls }: SessionCase, { allowSideEffects }: RecordRequest): void {
  const beyond = allowSideEffects ? [] : effectsBeyond(calls);
  if (beyond.length === 0) return;
  const more = beyond.length > TOLD_CALLS ? `\n… and ${beyond.length - TOLD_CALLS} more` : "";
  throw new CapstanError(
    "not_allowed",
    `Recording re-runs the session's tool calls twice in a copy of its files. These may have side effects beyond that:\n${beyond.slice(0, TOLD_CALLS).join("\n")}${more}\nTo run them anyway, add --allow-side-effects`,
  );
}

async function readStored({
  home,
  environment,
  sessionId,
}: RecordRequest): Promise<{ record: SessionRecord; events: readonly StoredEvent[] }> {
  await using store = await openStore(home, environment);
  const record = await store.session(sessionId);
  if (record === undefined)
    throw new CapstanError("not_found", `Session ${sessionId} was not found. See: capstan sessions list`);
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

const ANOTHER_NAME = "Use another name: --name";

/** The existing suite without such a case; undefined if it is to be created. */
async function suiteBefore(name: string, { suiteFile, environment }: RecordRequest): Promise<ReadSuite | undefined> {
  if (!existsSync(suiteFile)) return undefined;
  const read = await readSuite(suiteFile, environment);
  if (read.suite.cases.some((one) => fileNameOf(one.name) === fileNameOf(name)))
    throw new CapstanError("invalid_input", `${suiteFile} already has a case of that name. ${ANOTHER_NAME}`);
  return read;
}

interface Making {
  readonly request: RecordRequest;
  readonly record: SessionRecord;
  readonly events: readonly StoredEvent[];
  /** The suite's directory. */
  readonly directory: string;
  readonly staged: StagedCase;
  readonly check: ReturnType<typeof requireShareable>;
}

/** Suites, agents and fixtures are meant to be shared. */
function requireShareable(secretsIn: SecretsIn): (what: string, text: string) => void {
  return (what, text) => {
    const found = secretsIn({ text });
    if (found.length === 0) return;
    throw new CapstanError(
      "invalid_cassette",
      `Nothing was recorded: ${what} contains a secret (${[...new Set(found)].join(", ")}), and recordings are meant to be shared. Repeat the session without the secret, and record that one.`,
    );
  };
}

function fixturePath(name: string): string {
  return join("fixtures", fileNameOf(name));
}

/** Undefined if it would be empty. */
async function stageFixture(
  name: string,
  { request: { home }, record, events, directory, staged, check }: Making,
): Promise<{ readonly fixture: string | undefined; readonly isThere: boolean }> {
  const fixture = fixturePath(name);
  const [path, target] = [join(staged.path, fixture), join(directory, fixture)];
  const without = ["fixtures", "cassettes"].map((one) => join(directory, one));
  if (!(await makeFixture(path, { home, record, events, without, check })))
    return { fixture: undefined, isThere: false };
  const isThere = existsSync(target);
  // A killed process may have left it behind.
  if (isThere && !(await isSameFixture(path, target)))
    throw new CapstanError("invalid_input", `${target} already exists with other files. ${ANOTHER_NAME}`);
  return { fixture, isThere };
}

/** An existing suite already has an agent. */
async function stageAgent(
  before: ReadSuite | undefined,
  fixture: string | undefined,
  { request: { suiteFile, environment, agentFile }, record, events, directory, staged, check }: Making,
): Promise<ChosenAgent> {
  const about = { record, inputs: inputsOf(events), fixture: fixture && join(staged.path, fixture) };
  if (before === undefined) {
    const agent = await agentForSuite({ ...about, directory, environment, agentFile });
    if (agent.text === undefined) return agent;
    check(agent.path, agent.text);
    await writeFile(join(staged.path, agent.path), agent.text);
    return agent;
  }
  const others = differsIn(before.configuration, about);
  if (others.length > 0) throw anotherAgent(`The agent of ${suiteFile}`, others);
  return { path: "", inputs: about.inputs, text: undefined };
}
