import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Runtime as Host } from "../../../src/runtime/runtime.ts";
import type { Session } from "../../../src/runtime/session.ts";
import { agent, ofType, testHost } from "../../support/host.ts";
import { say, toolUse } from "../../support/scripted-model.ts";
import { expectFirstTurn, remembers } from "./history.ts";
import { ME } from "./people.ts";
import { callsIn, waitUntilEnded, type EngineUnderTest, steps, waiting } from "./stage.ts";

export interface EngineChange {
  readonly engines: readonly [EngineUnderTest, EngineUnderTest];
  /** Takes over a closed session, which runs on this engine from then on. */
  readonly continueOn: (host: Host, sessionId: string, engine: EngineUnderTest) => Promise<Session>;
}

/** A session that another engine continues: its history is rebuilt from the log, both ways. */
export function engineChange({ engines: [one, other], continueOn }: EngineChange): void {
  describe(`a session on ${one.name}, then ${other.name}, then ${one.name}`, () => {
    test("shows the model the earlier messages, calls and results in each next request", async () => {
      await using t = await testHost((request) =>
        request.last.includes("the other") && request.toolResults.length === 0
          ? { blocks: [toolUse("Bash", { command: "echo other-$((6*7))" }, "toolu_other")] }
          : remembers(request),
      );
      const worker = agent({ ...one.agent, tools: ["Bash"], permissions: { allow: ["Bash"] } });
      let session = await t.host.startSession({ agent: worker, cwd: t.cwd });
      await session.send("Use the shell.").result();
      await session.close();
      session = await continueOn(t.host, session.id, other);
      await session.send("Use the other.").result();
      expectFirstTurn(t.model.requests.at(-1));
      await session.close();
      session = await continueOn(t.host, session.id, one);
      expect((await session.send("And now?").result()).text).toBe("answer 4");
      expectFirstTurn(t.model.requests.at(-1));
      const { calls, results } = callsIn(t.model.requests.at(-1));
      expect(calls.map(({ id }) => id)).toEqual(["toolu_first", "toolu_other"]);
      expect(results.map(({ id }) => id)).toEqual(["toolu_first", "toolu_other"]);
      expect(t.model.requests.at(-1)?.transcript).toMatch(/Use the other\.[^]*other-42[^]*answer 3[^]*And now\?/);
      const rendered = ofType(await t.host.read(session.id), "capstan.prompt_rendered");
      expect(rendered.map(({ engine }) => engine)).toEqual([one.name, other.name, one.name]);
    });

    test("runs a call once that waited for a person while the engine changed", async () => {
      const command = "echo once >> effects.txt";
      await using t = await testHost(steps({ blocks: [toolUse("Bash", { command }, "toolu_waits")] }, say("done")));
      const started = await t.host.startSession({ agent: agent({ ...one.agent, tools: ["Bash"] }), cwd: t.cwd });
      expect((await started.send("Work.").result()).stopReason.type).toBe("requires_action");
      await started.close();
      const session = await continueOn(t.host, started.id, other);
      const [approval] = await waiting(t.host, session);
      await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
      await waitUntilEnded(session);
      expect(readFileSync(join(t.cwd, "effects.txt"), "utf8")).toBe("once\n");
      expect(callsIn(t.model.requests.at(-1)).results).toEqual([{ id: "toolu_waits", isError: false }]);
      expect(t.model.requests).toHaveLength(2);
    });
  });
}
