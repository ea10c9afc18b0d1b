import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FASTER } from "../../support/cli.ts";
import { ofType, testHost, type TestHost } from "../../support/host.ts";
import { type ModelRequest, say, type Script, text, thinking, toolUse } from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import { until } from "../../support/until.ts";
import { ME } from "./people.ts";
import { callsIn, countIn, waitUntilEnded, isRunning, longSleep, type Stage, steps, waiting } from "./stage.ts";

/** In the first turn it thinks, speaks and calls a tool; later it answers. */
export const remembers: Script = ({ last, toolResults, index }) =>
  last.includes("Use the shell") && toolResults.length === 0
    ? {
        blocks: [thinking("hmm"), text("Looking."), toolUse("Bash", { command: "echo says-$((40+2))" }, "toolu_first")],
      }
    : say(`answer ${index}`);

/** The messages, calls and results of the first turn, in order. */
export function expectFirstTurn(request: ModelRequest | undefined): void {
  const seen = request?.transcript ?? "";
  const places = ["Use the shell.", "Looking.", "echo says-", "says-42", "answer 1"].map((part) => seen.indexOf(part));
  expect(places.filter((place) => place < 0)).toEqual([]);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  const { calls, results } = callsIn(request);
  expect(calls[0]).toMatchObject({ id: "toolu_first", name: "Bash" });
  expect(results[0]).toEqual({ id: "toolu_first", isError: false });
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (key, inner: unknown) => (key === "cache_control" ? undefined : inner));
const messagesIn = ({ body }: ModelRequest): string[] =>
  body.messages.map(({ role, content }) =>
    plain({ role, content: typeof content === "string" ? [{ type: "text", text: content }] : content }),
  );

/** What the model API caches a prompt by is its beginning. Where the cache ends may move. */
function expectPrefix(earlier: ModelRequest | undefined, later: ModelRequest): void {
  if (earlier === undefined) throw new Error("There is no earlier request.");
  expect(plain([later.body.tools, later.body.system])).toBe(plain([earlier.body.tools, earlier.body.system]));
  expect(messagesIn(later).slice(0, earlier.body.messages.length)).toEqual(messagesIn(earlier));
}

export function history(stage: Stage): void {
  const worker = stage.agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });

  const shared = sharedSession(() => worker);

  describe("a session whose process has ended", () => {
    test("continues in another with its whole history, and nothing that its commands left still runs", async () => {
      const sleep = longSleep();
      const { session, events, requests } = await shared((request) =>
        request.index === 2
          ? { blocks: [toolUse("Bash", { command: `setsid ${sleep} >/dev/null 2>&1 & echo started` })] }
          : remembers(request),
      );
      await session.send("Use the shell.").result();
      await session.send("Leave something behind.").result();
      await until(
        () => isRunning(sleep),
        (running) => running,
      );
      await session.hibernate();
      await expect.poll(() => isRunning(sleep)).toBe(false);
      expect((await session.send("Continue.").result()).text).toBe("answer 4");
      expectFirstTurn(requests().at(-1));
      for (const [index, request] of requests().entries()) if (index > 0) expectPrefix(requests()[index - 1], request);
      const started = ofType(await events(), "capstan.process_started");
      expect(started.map((event) => event.history)).toEqual(["new", "resumed"]);
    });

    test("keeps a message that was interrupted before its answer, once", async () => {
      const asked = Promise.withResolvers<void>();
      const { session, requests } = await shared(
        steps(() => {
          asked.resolve();
          return say("never", { delay: new Promise(() => {}) });
        }),
      );
      const turn = session.send("An unanswered question.");
      await asked.promise;
      await session.interrupt();
      await turn.result();
      await session.hibernate();
      await session.send("And now?").result();
      expect(countIn(requests().at(-1) ?? { transcript: "" }, "An unanswered question.")).toBe(1);
    });
  });

  describe("a fork", () => {
    test("knows what was said before its place and nothing of what came after, in either direction", async () => {
      const { t, session, events, requests } = await shared(
        steps(
          { blocks: [toolUse("Bash", { command: "echo before-$((1+1))" }, "toolu_before")] },
          say("answered before"),
          (request) => say(`answer ${request.index}`),
        ),
      );
      await session.send("Say it before.").result();
      const at = (await events()).at(-1)?.seq ?? 0;
      await session.send("Only in the parent.").result();
      await using forked = await t.host.forkSession(session.id, { at });
      await forked.send("Only in the fork.").result();
      const inFork = requests().at(-1);
      expect(inFork?.transcript).toMatch(
        /Say it before\.[^]*echo before-[^]*before-2[^]*answered before[^]*Only in the fork/,
      );
      expect(callsIn(inFork).results.at(-1)).toEqual({ id: "toolu_before", isError: false });
      expect(inFork?.transcript).not.toContain("Only in the parent.");
      await session.send("Parent again.").result();
      expect(requests().at(-1)?.transcript).toContain("Only in the parent.");
      expect(requests().at(-1)?.transcript).not.toContain("Only in the fork.");
    });
  });

  describe("a call that waits for a person", () => {
    test("outlives the host that asked; it runs once when it is allowed, and not when it is denied", async () => {
      await using t = await testHost(
        steps({
          blocks: ["a", "b"].map((name) =>
            toolUse("Bash", { command: `echo ${name} >> effects.txt` }, `toolu_${name}`),
          ),
        }),
      );
      // A call that the log does not have yet when the host dies was never made.
      const sessionId = await killedHost(t, stage.agent({ tools: ["Bash"] }), async (id) => {
        await until(
          async () => ofType(await t.host.read(id), "agent.tool_use"),
          (calls) => calls.length === 2,
        );
        await waiting(t.host, { id });
      });
      const session = await t.host.resumeSession(sessionId, { onCrash: "continue" });
      for (let answered = 0; answered < 2; answered += 1) {
        const [approval] = await waiting(t.host, session);
        const behavior = approval?.request.call_id === "toolu_a" ? "allow" : "deny";
        await t.host.approvals.answer(approval?.id ?? "", { behavior }, ME);
      }
      await waitUntilEnded(session);
      expect(readFileSync(join(t.cwd, "effects.txt"), "utf8")).toBe("a\n");
      const { calls, results } = callsIn(t.model.requests.at(-1));
      expect(calls.map(({ id }) => id)).toEqual(["toolu_a", "toolu_b"]);
      expect(Object.fromEntries(results.map(({ id, isError }) => [id, isError]))).toEqual({
        toolu_a: false,
        toolu_b: true,
      });
      expect(t.model.requests).toHaveLength(2);
    });
  });

  describe("a host that is killed", () => {
    test("while a command runs takes it along; the call is aborted and not run again, and the turn continues", async () => {
      const sleep = longSleep();
      const command = `echo once >> effects.txt; ${sleep}; echo late >> effects.txt`;
      await using t = await testHost(steps({ blocks: [toolUse("Bash", { command }, "toolu_cut")] }, say("I see.")));
      const sessionId = await killedHost(t, worker, async () => {
        await until(
          () => isRunning(sleep),
          (running) => running,
        );
      });
      await expect.poll(() => isRunning(sleep)).toBe(false);
      const session = await t.host.resumeSession(sessionId, { onCrash: "continue" });
      await waitUntilEnded(session);
      expect(readFileSync(join(t.cwd, "effects.txt"), "utf8")).toBe("once\n");
      const events = await t.host.read(sessionId);
      expect(ofType(events, "agent.tool_result")).toMatchObject([{ call_id: "toolu_cut", outcome: "aborted" }]);
      expect(callsIn(t.model.requests.at(-1)).results).toEqual([{ id: "toolu_cut", isError: true }]);
      expect(ofType(events, "agent.message").at(-1)?.content).toMatchObject([{ text: "I see." }]);
    });
  });
}

/** Runs a turn in a host of its own, which is killed when `ready` says so. Resolves to the session's id. */
async function killedHost(
  { home, cwd, environment }: TestHost,
  agent: ReturnType<Stage["agent"]>,
  ready: (sessionId: string) => Promise<void>,
): Promise<string> {
  const child = fork(join(import.meta.dirname, "../../support/waiting-host.ts"), [], {
    stdio: "inherit",
    env: { ...process.env, ...FASTER },
  });
  child.send({ home, cwd, environment: { ...environment }, agent, message: "Work." });
  const [sessionId] = (await once(child, "message")) as [string];
  await ready(sessionId);
  child.kill("SIGKILL");
  await once(child, "exit");
  return sessionId;
}
