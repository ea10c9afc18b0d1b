import { ids } from "../src/app/clock.ts";
import type { GatewaySession } from "../src/core/ports/gateway.ts";
import { openGateway } from "../src/gateway/gateway.ts";
import { httpUpstream } from "../src/gateway/upstreams/http-upstream.ts";
import { NO_BUDGETS } from "../src/runtime/engine/budgets.ts";
import { meter } from "../src/runtime/engine/meter.ts";
import { agent, temporaryDirectory } from "../test/support/host.ts";
import { say, scriptedModel } from "../test/support/scripted-model.ts";
import { interleave } from "./interleave.ts";
import { clock, logOf, newSession, openStoreIn } from "./past-turns.ts";
import { type BenchCase, differenceRow, type Row, sameRow } from "./row.ts";
import { answer, type ModelCall, openStream } from "./turns.ts";

const name = "gateway";
const SECRET = "bench";
/** As large as the request of an agent with all its tools. */
const REQUEST_BYTES = 85_000;
const DELTAS = 100;
const PACE_MS = 5;
const LONG_ANSWER = Array.from({ length: DELTAS }, (_, word) => `word${word}`).join(" ");

/**
 * What the gateway costs a request. `gateway` meters like a host: both ends of the request are in a log on disk before
 * bytes flow on. `bare` grants everything at once, which shows how much of the cost is the log.
 */
export const gatewayCost: BenchCase = {
  name,
  async run() {
    await using stack = new AsyncDisposableStack();
    const model = stack.use(await scriptedModel(answer));
    const directory = stack.use(temporaryDirectory());
    const store = stack.use(await openStoreIn(directory.path));
    const lease = await newSession(store, { agent: agent(), cwd: directory.path });
    const log = await logOf(store, lease);
    const upstream = httpUpstream({ baseUrl: new URL(model.url), credential: { kind: "api_key", secret: SECRET } });
    const gateway = stack.use(await openGateway({ upstream, clock }));
    const metering = meter({
      sessionId: lease.sessionId,
      project: "default",
      agent: agent().name,
      log,
      ledger: store.ledger,
      clock,
      ids,
      fence: lease.fence,
      budget: () => ({}),
      budgets: NO_BUDGETS,
      models: () => [agent().model],
      hostTools: [],
      onLimit: ignore,
      onRefusal: ignore,
      onExpired: waitless,
    });
    const [metered, granted] = [await gateway.admit(metering), await gateway.admit(GRANTING)];
    const body = requestBody();
    const calls = {
      direct: { url: model.url, token: SECRET, body },
      gateway: { url: metered.url, token: metered.token, body },
      bare: { url: granted.url, token: granted.token, body },
    };
    const first = await firstByteRows(calls);
    model.script = () => say(LONG_ANSWER, { pace: PACE_MS });
    return [...first, await pacedRow(calls)];
  },
};

async function firstByteRows(calls: Readonly<Record<"direct" | "gateway" | "bare", ModelCall>>): Promise<Row[]> {
  const times = await interleave(
    { rounds: 100, warmUp: 5 },
    {
      gateway: () => firstByte(calls.gateway),
      direct: () => firstByte(calls.direct),
      bare: () => firstByte(calls.bare),
    },
  );
  const kilobytes = `${REQUEST_BYTES / 1_000} kB request`;
  return [
    differenceRow(
      {
        name,
        what: `first byte, gateway : direct, ${kilobytes}`,
        measured: times.gateway,
        against: times.direct,
      },
      6,
    ),
    differenceRow({
      name,
      what: "first byte, gateway without a log : direct",
      measured: times.bare,
      against: times.direct,
    }),
  ];
}

async function pacedRow(calls: Readonly<Record<"direct" | "gateway", ModelCall>>): Promise<Row> {
  const times = await interleave(
    { rounds: 60, warmUp: 1 },
    { gateway: () => wholeStream(calls.gateway), direct: () => wholeStream(calls.direct) },
  );
  return sameRow({
    name,
    what: `whole stream of ${DELTAS} deltas every ${PACE_MS} ms, gateway : direct`,
    measured: times.gateway,
    against: times.direct,
  });
}

async function firstByte(call: ModelCall): Promise<number> {
  const started = performance.now();
  let first: number | undefined;
  // Read to the end, so that the connection is free for the next request.
  for await (const _chunk of await openStream(call)) first ??= performance.now() - started;
  return first ?? Number.NaN;
}

async function wholeStream(call: ModelCall): Promise<number> {
  const started = performance.now();
  for await (const _chunk of await openStream(call));
  return performance.now() - started;
}

function requestBody(): string {
  const messages = [{ role: "user", content: "Hello" }];
  return JSON.stringify({ model: agent().model, stream: true, system: "x".repeat(REQUEST_BYTES), messages });
}

function ignore(): void {}

async function waitless(): Promise<() => Promise<void>> {
  return async () => {};
}

const GRANTING: GatewaySession = {
  sessionId: "sesn_bench",
  reserve: async () => ({ granted: true, token: "granted" }),
  settle: async () => {},
  credentialRejected: ignore,
  credentialExpired: waitless,
};
