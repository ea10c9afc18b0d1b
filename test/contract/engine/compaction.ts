import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ofType, testHost } from "../../support/host.ts";
import { call, type ModelRequest, type Reply, say } from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import type { Stage } from "./stage.ts";

/** The class that an engine gives the request for a summary; the ledger knows it by that too. */
const isSummary = ({ headers }: ModelRequest): boolean => headers["x-claude-code-request-class"] === "compaction";
const summarises = (request: ModelRequest, reply: Partial<Reply> = {}): Reply =>
  isSummary(request) ? say("SUMMARY: they counted.") : { ...say(`answer ${request.index}`), ...reply };

export function compaction(stage: Stage): void {
  stage.capability(
    "compact_at",
    () => {
      test("is the size at which the conversation is summarised", async () => {
        const used = [75_000, 85_000, 1_000];
        await using t = await testHost((request) =>
          isSummary(request)
            ? summarises(request)
            : summarises(request, { usage: { input_tokens: used.shift() ?? 1_000 } }),
        );
        const session = await t.host.startSession({ agent: stage.agent({ compact_at: 80_000 }), cwd: t.cwd });
        const compacted = async () => ofType(await t.host.read(session.id), "agent.thread_context_compacted").length;
        await session.send("Count the apples.").result();
        await session.send("Count the pears.").result();
        expect(await compacted()).toBe(0);
        await session.send("Count the plums.").result();
        expect(await compacted()).toBe(1);
        expect(t.model.requests.at(-1)?.transcript).toMatch(/SUMMARY: they counted\.[^]*Count the plums\./);
      });

      test("of a size that the engine cannot use is refused", stage.expectRefusal({ agent: { compact_at: 1 } }));
    },
    stage.expectRefusal({ agent: { compact_at: 100_000 } }),
  );
  stage.capability(
    "compaction",
    () => {
      const permissions = { allow: ["Bash"] };
      const shared = sharedSession(() => stage.agent({ tools: ["Bash"], permissions }));

      test("that the model spoils with a call runs nothing, and leaves the conversation as it was", async () => {
        const { t, session, requests } = await shared((request) =>
          isSummary(request) ? call("Bash", { command: "touch ran" }) : say("Hello."),
        );
        await session.send("Remember the plums.").result();
        await expect(session.compact().result()).rejects.toMatchObject({ code: "model_failed" });
        expect(existsSync(join(t.cwd, "ran"))).toBe(false);
        expect(await session.send("And now?").result()).toMatchObject({ text: "Hello." });
        expect(requests().at(-1)?.transcript).toContain("Remember the plums.");
      });

      test("on request leaves a summary for the model and everything in the log, also for the next process", async () => {
        const { session, events, requests } = await shared((request) => summarises(request));
        await session.send("Count the apples.").result();
        await session.send("Count the pears.").result();
        await session.compact().result();
        const [compacted, ...others] = ofType(await events(), "agent.thread_context_compacted");
        expect(others).toEqual([]);
        expect(compacted).toMatchObject({ trigger: "manual", summary: expect.stringContaining("SUMMARY") as string });
        expect(compacted?.tokens_before).toBeGreaterThan(0);
        expect(JSON.stringify(ofType(await events(), "user.message"))).toContain("Count the apples.");
        for (const message of ["And after it?", "And in another process?"]) {
          await session.send(message).result();
          const seen = requests().at(-1)?.transcript;
          expect(seen).toContain("SUMMARY: they counted.");
          expect(seen).toContain(message);
          expect(seen).not.toContain("Count the apples.");
          await session.hibernate();
        }
        expect(requests().at(-1)?.transcript).toContain("And after it?");
        const spans = ofType(await events(), "span.model_request_end");
        expect(spans.filter(({ request_class: kind }) => kind === "compaction")).not.toEqual([]);
      });

      test("happens by itself when the context is nearly full, before the next request", async () => {
        await using t = await testHost((request) =>
          summarises(request, { usage: { input_tokens: request.index === 0 ? 195_000 : 1_000 } }),
        );
        await using host = await stage.hostWithSmallContexts(t);
        const session = await host.startSession({ agent: stage.agent({ model: "claude-sonnet-4-5" }), cwd: t.cwd });
        await session.send("Count the apples.").result();
        await session.send("Count the pears.").result();
        const [compacted] = ofType(await host.read(session.id), "agent.thread_context_compacted");
        expect(compacted).toMatchObject({ trigger: "auto", summary: expect.stringContaining("SUMMARY") as string });
        for (const message of ["Count the pears.", "And now?"]) {
          if (message === "And now?") await session.send(message).result();
          const seen = t.model.requests.at(-1)?.transcript;
          expect(seen).toContain("SUMMARY: they counted.");
          expect(seen).toContain("Count the pears.");
          expect(seen).toContain(message);
        }
      });
    },
    async () => {
      await using t = await testHost(() => say("ok"));
      const session = await t.host.startSession({ agent: stage.agent(), cwd: t.cwd });
      await session.send("Hello.").result();
      await expect(session.compact().result()).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringContaining(`The ${stage.name} engine`) as string,
      });
    },
  );
}
