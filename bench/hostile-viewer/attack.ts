import { parentPort, workerData } from "node:worker_threads";

/** Sends requests as a viewer without end, in a separate thread so that it does not slow down the measurement. */

export interface Attack {
  readonly url: string;
  readonly key: string;
  readonly session: string;
  readonly kind: "bodies" | "reads";
  /** Two numbers: 1 while the attack runs, and the count of responses. */
  readonly shared: SharedArrayBuffer;
}

const { url, key, session, kind, shared } = workerData as Attack;
const numbers = new Int32Array(shared);
const AT_ONCE = 4;
const MEBIBYTE = 1_048_576;

const lists = (bytes: number): string => `[${"[],".repeat(bytes / 3)}[]]`;
const BODIES = [
  lists(MEBIBYTE - 10),
  `{"permissions":{"allow":${lists(7_400)}}}`,
  "[".repeat(500_000),
  lists(8 * MEBIBYTE),
  '{"permissions":{"allow":[',
].map((text) => Buffer.from(text));
const RULES = JSON.stringify({ permissions: { deny: ["Bash(rm *)"], ask: ["Write(**)"] } });
const READS: readonly (readonly [path: string, body?: string])[] = [
  ["/api/audit/verify"],
  ["/api/policy/replay", RULES],
  [`/api/sessions/${session}/export`],
  ["/api/sessions?search=nothing-has-this"],
  [`/api/sessions/${session}/diff`],
];

async function send(round: number): Promise<void> {
  const [path, body] =
    kind === "bodies"
      ? (["/api/policy/replay", BODIES[round % BODIES.length]] as const)
      : (READS[round % READS.length] ?? ["/api/whoami"]);
  const type = { "content-type": "application/json" };
  const answer = await fetch(`${url}${path}`, {
    headers: { "x-api-key": key, ...(body !== undefined && type) },
    ...(body !== undefined && { method: "POST", body }),
  });
  await answer.arrayBuffer();
}

async function attack(first: number): Promise<never> {
  for (let round = first; ; round += 1) {
    await Atomics.waitAsync(numbers, 0, 0).value;
    // A request that is cut off while it is sent has had its response.
    await send(round).catch(() => {});
    Atomics.add(numbers, 1, 1);
  }
}

for (let first = 0; first < AT_ONCE; first += 1) void attack(first);
// Atomics.waitAsync alone does not keep a thread alive.
parentPort?.on("message", () => {});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, and no window
parentPort?.postMessage("ready");
