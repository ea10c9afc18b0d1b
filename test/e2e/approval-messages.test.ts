import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { say, toolUse } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

const FILES = ["one", "two"] as const;

/**
 * What happens while the two calls of one answer wait for a person: `m` a message, `a` an answer to the next of them,
 * `r` the host is gone and another takes over, `p` wait until this host has started an agent process. What is still open at the end is
 * answered.
 */
const ORDERS = ["raam", "rmaa", "raapmr", "raampr", "marar", "amar"] as const;

for (const order of ORDERS)
  test(`a message sent while several approvals wait reaches the model once: ${order}`, async () => {
    await using t = await testHost((request) =>
      request.transcript.includes("content of")
        ? say("done")
        : { blocks: FILES.map((name) => toolUse("Read", { file_path: join(t.home, name) })) },
    );
    for (const name of FILES) writeFileSync(join(t.home, name), `content of ${name}`);
    await using hosts = new AsyncDisposableStack();
    let { host } = t as { host: Host };
    let session = await host.startSession({ agent: agent({ tools: ["Read"] }), cwd: t.cwd });
    const { id } = session;
    expect((await session.send("Read both.").result()).stopReason).toMatchObject({ event_ids: { length: 2 } });
    const started = async (): Promise<number> => ofType(await eventsOf(host, id), "capstan.process_started").length;

    let startedBefore = await started();
    const sent: string[] = [];
    for (const step of order) {
      if (step === "m") {
        sent.push(`Message number ${sent.length + 1}, please.`);
        const stream = session.send(sent.at(-1) ?? "")[Symbol.asyncIterator]();
        // It is stored now; nobody waits for what it leads to.
        await stream.next();
      }
      if (step === "a") await answerNext(host, id);
      if (step === "p") {
        const before = startedBefore;
        await until(started, (count) => count > before);
      }
      if (step !== "r") continue;
      await host.suspend(0);
      host = hosts.use(await t.another());
      startedBefore = await started();
      session = await host.resumeSession(id);
    }
    while (await answerNext(host, id));
    await until(
      () => session.state,
      ({ status, stopReason, undelivered }) =>
        status === "idle" && stopReason?.type === "end_turn" && undelivered.length === 0,
    );

    const events = await eventsOf(host, id);
    const messages = ofType(events, "user.message").map((event) => event.id);
    expect(ofType(events, "capstan.input_delivered").flatMap((event) => event.event_ids)).toEqual(messages);
    const last = t.model.requests.at(-1)?.transcript ?? "";
    for (const message of sent) expect(last.split(message)).toHaveLength(2);
    // A host that is gone while a call runs leaves its outcome unknown; it is not run again.
    expect(ofType(events, "agent.tool_result")).toHaveLength(FILES.length);
  });

/** False when nothing waits for an answer. */
async function answerNext(host: Host, sessionId: string): Promise<boolean> {
  const [next] = await host.approvals.list({ sessionId, status: "pending" });
  if (next !== undefined) await host.approvals.answer(next.id, { behavior: "allow" }, { by: "me" });
  return next !== undefined;
}
