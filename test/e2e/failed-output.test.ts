import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { MAX_OUTPUT_BYTES } from "../../src/core/tool-output/tool-outputs.ts";
import { readOutput } from "../../src/runtime/outputs/read-output.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { describeSandbox } from "../support/hostile-world.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";

const worker = agent({ tools: ["Bash"], permissions: { mode: "yolo" } });
type Mode = "off" | "required";

/** What the log and the model have of the calls of one turn. */
async function run(steps: readonly Step[], mode: Mode) {
  await using t = await testHost(obedient);
  const session = await t.host.startSession({
    agent: worker,
    cwd: t.cwd,
    environment: { sandbox: { mode } },
    // A command that goes beside its HOME asks in every mode.
    askPermission: async () => ({ behavior: "allow" }),
  });
  await session.send(order(...steps)).result();
  const results = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
  const place = join(t.home, "sessions", session.id);
  const processes = readdirSync(place).filter((name) => name.startsWith("process-"));
  const left = processes.flatMap((name) => readdirSync(join(place, name, "outputs")));
  await session.close();
  await using store = await openStore(t.home, {});
  const outputs = await Promise.all(
    results.map(async ({ call_id: call }) => (await readOutput(store, session.id, call ?? "")).toString()),
  );
  return {
    results,
    outputs,
    left,
    told: t.model.requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)),
  };
}

const bash = (command: string, timeout?: number): readonly [string, Record<string, unknown>] => [
  "Bash",
  { command, ...(timeout !== undefined && { timeout }) },
];
const lines = (to: number, text: (number: number) => string = String): string =>
  Array.from({ length: to }, (_, at) => `${text(at + 1)}\n`).join("");

function keepsOutputs(mode: Mode): void {
  test("all that a failing command wrote is kept without its secrets, and the model sees a part of it", async () => {
    const mixed = "for i in $(seq 1 3000); do echo out $i; echo err $i >&2; done; exit 7";
    const secret = "seq 1 30000; echo password=hunter2hunter2; false";
    const { results, outputs, left, told } = await run(
      [bash("seq 1 4000; exit 3"), bash(secret), bash(mixed), bash("echo short; exit 9")],
      mode,
    );
    expect(outputs).toEqual([
      lines(4_000),
      `${lines(30_000)}password=[redacted:password]\n`,
      lines(3_000, (number) => `out ${number}\nerr ${number}`),
      "Exit code 9\nshort",
    ]);
    expect(results.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed", "failed"]);
    expect(results.map(({ whole_output: whole }) => whole?.total)).toEqual([18_893, 168_918, 51_786, undefined]);
    expect(told.map((text) => /^Exit code \d+/.exec(text)?.[0])).toEqual(
      [3, 1, 7, 9].map((code) => `Exit code ${code}`),
    );
    for (const text of told.slice(0, 3)) {
      expect(text).toContain("characters truncated] ...");
      expect(text.length).toBeLessThan(11_000);
    }
    expect(left).toEqual([]);
  });

  test("each of several commands that fail together has its own output", async () => {
    const together = [1, 2, 3].map((number) => bash(`seq -f 'number %g of ${number}' 1 2000; exit ${number}`));
    const { outputs } = await run([{ together }], mode);
    expect(outputs).toEqual([1, 2, 3].map((command) => lines(2_000, (number) => `number ${number} of ${command}`)));
  });

  test("what a command wrote before its time limit is kept, as is what a killed one wrote", async () => {
    const { outputs, told } = await run([bash("seq 1 5000; sleep 600", 1_000), bash("seq 1 6000; kill -9 $$")], mode);
    expect(outputs).toEqual([lines(5_000), lines(6_000)]);
    expect(told[0]).toMatch(/^Exit code 143\nCommand timed out/);
    expect(told[1]).not.toContain("Killed");
  });
}

describe("without a sandbox", () => {
  keepsOutputs("off");

  test("an output that is too long loses its middle, and its size is known", async () => {
    const { results, outputs } = await run([bash("echo start; seq 1 2000000; echo the end; false")], "off");
    const [output = ""] = outputs;
    expect(results[0]?.whole_output).toMatchObject({ total: 14_888_910 });
    expect(output).toMatch(
      /^start\n1\n2\n[^]*\n\[[\d,]+ of 14,888,\d+ bytes are left out here[^]*\n2000000\nthe end\n$/,
    );
    expect(output).not.toContain("\0");
    expect(output.length).toBeLessThan(MAX_OUTPUT_BYTES + 1_000);
  });

  test("letters of several bytes and blank lines at the start are no hindrance", async () => {
    const { outputs } = await run(
      [bash("echo; echo; for i in $(seq 1 3000); do echo zażółć 🦀 $i; done; false")],
      "off",
    );
    expect(outputs).toEqual([`\n\n${lines(3_000, (number) => `zażółć 🦀 ${number}`)}`]);
  });

  test("a link that a command puts where outputs are kept is not followed, though what is shown agrees", async () => {
    const planted = `d=$(echo ~/../process-*/outputs); seq 1 5000 | sed 's/^2000$/mine/' > "$d/../other"
      ln -s "$d/../other" "$d/output-a"; ln "$d/../other" "$d/output-b"; mkfifo "$d/output-c"`;
    const { outputs } = await run([bash(planted), bash("seq 1 5000; exit 3")], "off");
    expect(outputs[1]).toBe(lines(5_000));
  });
});

describeSandbox("in the sandbox", () => keepsOutputs("required"));
