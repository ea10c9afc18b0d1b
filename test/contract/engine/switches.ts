import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ofType, testHost } from "../../support/host.ts";
import { call, say, toolUse } from "../../support/scripted-model.ts";
import type { Desks } from "./desks.ts";
import { type Stage, steps } from "./stage.ts";

export function switches(stage: Stage, { asking: shared }: Desks): void {
  describe("a mode that changes between turns", () => {
    test("decides the calls of the next one", async () => {
      const { t, session, events } = await shared(() => say("ok"));
      for (const [mode, outcome] of [
        ["accept-edits", "completed"],
        ["read-only", "denied"],
        ["yolo", "completed"],
      ] as const) {
        await session.setMode(mode);
        const path = join(t.cwd, `${mode}.txt`);
        t.model.script = steps(call("Write", { file_path: path, content: "x" }));
        await session.send("Write it.").result();
        expect(existsSync(path)).toBe(outcome === "completed");
        expect(ofType(await events(), "agent.tool_result").at(-1)?.outcome).toBe(outcome);
      }
      const decided = ofType(await events(), "capstan.permission_decided").map(({ decided_by: by }) => by);
      expect(decided).toEqual(["mode:accept-edits", "mode:read-only", "mode:yolo"]);
      await session.setMode("normal");
    });
  });

  stage.capability(
    "model_switch",
    () =>
      test("is asked from the next request on, also after the process has ended", async () => {
        const { session, requests } = await shared(() => say("ok"));
        await session.send("One.").result();
        await session.setModel("claude-haiku-4-5");
        await session.send("Two.").result();
        await session.hibernate();
        await session.send("Three.").result();
        const askedWith = (message: string): string[] =>
          requests().flatMap(({ last, body }) => (last.includes(message) ? [body.model] : []));
        expect(askedWith("One.")).toEqual(["claude-opus-4-8"]);
        for (const message of ["Two.", "Three."])
          expect([...new Set(askedWith(message))]).toEqual(["claude-haiku-4-5"]);
        expect(requests().at(-1)?.transcript).toContain("One.");
        await session.setModel("claude-opus-4-8");
      }),
    async () => {
      const { session } = await shared(() => say("ok"));
      await session.send("One.").result();
      await expect(session.setModel("claude-haiku-4-5")).rejects.toMatchObject({ code: "unsupported" });
    },
  );

  stage.capability(
    "own_process",
    () =>
      test("that is killed in a turn loses the turn and not the session", async () => {
        await using t = await testHost(
          steps(
            { blocks: [toolUse("Bash", { command: "echo before" })] },
            say("word ".repeat(500), { pace: 10 }),
            say("recovered"),
          ),
        );
        const agent = stage.agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });
        const session = await t.host.startSession({ agent, cwd: t.cwd });
        const turn = session.send("Do it.");
        let killed = false;
        for await (const item of turn) {
          if (item.type !== "event_delta" || killed) continue;
          killed = true;
          const [started] = ofType(await t.host.read(session.id), "capstan.process_started");
          expect(started?.pid).not.toBe(process.pid);
          process.kill(started?.pid ?? 0, "SIGKILL");
        }
        await expect(turn.result()).rejects.toMatchObject({ code: "engine_lost" });
        expect((await session.send("Continue.").result()).text).toBe("recovered");
        expect(t.model.requests.at(-1)?.transcript).toContain("echo before");
      }),
    async () => {
      const { t, session } = await shared(() => say("ok"));
      await session.send("One.").result();
      const [started] = ofType(await t.host.read(session.id), "capstan.process_started");
      expect(started).toBeDefined();
      expect(started).not.toHaveProperty("pid");
    },
  );
}
