import { realpathSync } from "node:fs";
import { ids } from "../../../src/app/clock.ts";
import { openStore } from "../../../src/app/open-store.ts";
import { thisProcess } from "../../../src/app/host/processes.ts";
import type { Configuration } from "../../../src/config/load.ts";
import { CapstanError } from "../../../src/core/errors.ts";
import type { Store } from "../../../src/core/ports/store.ts";
import { readCall } from "../../../src/runtime/policy/policy-call.ts";
import type { Session } from "../../../src/runtime/session.ts";
import { ofType, testHost, type TestHost } from "../../support/host.ts";
import { obedient, order } from "../../support/obedient-model.ts";
import { REFUSED } from "./observables.ts";

interface Place {
  readonly hosts: TestHost;
  /** One that has two credentials. */
  readonly host: TestHost["host"];
  readonly store: Store;
}

type Observe = (session: Session, place: Place, asked: string) => Promise<unknown>;

/** What is seen of a turn in which the agent makes one call: in the log, and by the model API. */
const called = async (session: Session, { host, hosts: { model } }: Place, asked: string) => {
  const { tool, input } = readCall(asked);
  await session.send(order([tool, { ...input }])).result();
  const events = await host.read(session.id);
  const [question] = ofType(events, "capstan.approval_requested");
  const [decided] = ofType(events, "capstan.permission_decided");
  const { headers = {} } = model.requests.at(-1) ?? {};
  return {
    // As `explained decision` tells it.
    decision:
      question === undefined
        ? { behavior: decided?.decision, decidedBy: decided?.decided_by, remembers: [] }
        : { behavior: "ask", decidedBy: question.asked_by, remembers: question.remember },
    "end of a question": question === undefined ? "none asked" : question.expires_at === null ? "never" : "in time",
    checkpoints: ofType(events, "capstan.checkpoint_taken").map(({ reason }) => reason),
    "model request": [headers["x-api-key"], headers["authorization"]],
  };
};

/** What becomes of a turn while another session works in the directory. */
const busy: Observe = async (session, { store }) => {
  const { record } = session;
  const other = ids.next("sesn");
  await store.createSession({ ...record, id: other });
  const lease = await store.leases.acquire(other, thisProcess("host_other"), 600_000);
  await store.claims.claim(other, realpathSync(record.cwd));
  try {
    const ended = session
      .send("hello")
      .result()
      .then(
        () => "runs",
        (thrown: unknown) => `${REFUSED} ${thrown instanceof CapstanError ? thrown.code : "error"}`,
      );
    const first = await Promise.race([ended, waiting(session)]);
    await store.claims.release(other);
    return [first, await ended];
  } finally {
    await store.leases.release(lease);
  }
};

async function waiting(session: Session): Promise<string> {
  for await (const { type } of session.events()) if (type === "capstan.workspace_busy") return "waits";
  return "ends";
}

/** What is seen in real sessions. */
export const LIVE = {
  decision: called,
  "end of a question": called,
  checkpoints: called,
  "model request": called,
  busy,
} as const satisfies Readonly<Record<string, Observe>>;

interface LiveFile {
  readonly text: string;
  readonly loaded: Configuration;
  readonly asked: string;
}

/** Sessions on one host. A file that was looked at is not looked at again: a process costs half a second. */
export class LiveSessions implements AsyncDisposable {
  readonly #place: Place;
  readonly #seen = new Map<string, Promise<unknown>>();

  private constructor(place: Place) {
    this.#place = place;
  }

  static async open(): Promise<LiveSessions> {
    const hosts = await testHost(obedient);
    const host = await hosts.another({ environment: { ...hosts.environment, ANTHROPIC_AUTH_TOKEN: "another-one" } });
    return new LiveSessions({ hosts, host, store: await openStore(hosts.home, hosts.environment) });
  }

  async look(seen: keyof typeof LIVE, file: LiveFile): Promise<string> {
    const observe: Observe = LIVE[seen];
    const key = JSON.stringify([observe.name, file.text, file.asked]);
    const found = this.#seen.get(key) ?? this.#look(observe, file);
    this.#seen.set(key, found);
    const all = await found;
    return JSON.stringify(observe === called ? (all as Readonly<Record<string, unknown>>)[seen] : all);
  }

  async #look(
    observe: Observe,
    { loaded: { agent, sessionEnvironment: environment }, asked }: LiveFile,
  ): Promise<unknown> {
    const { host, hosts } = this.#place;
    await using session = await host.startSession({ agent, environment, cwd: hosts.cwd });
    return await observe(session, this.#place, asked);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place.store[Symbol.asyncDispose]();
    await this.#place.host.close();
    await this.#place.hosts[Symbol.asyncDispose]();
  }
}
