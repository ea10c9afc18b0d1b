import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { EnvironmentInput } from "../../../src/core/environment/environment.ts";
import { ofType, temporaryDirectory, testHost } from "../../support/host.ts";
import { describeSandbox } from "../../support/hostile-world.ts";
import { say, toolUse } from "../../support/scripted-model.ts";
import { type Stage, steps } from "./stage.ts";

const SANDBOX: EnvironmentInput = {
  // The programs of the tests are in the repository, which may itself lie where the sandbox hides everything.
  sandbox: { mode: "required", auto_allow_sandboxed: true, allow_read: [resolve(".")] },
};
const LIMITS: EnvironmentInput = { limits: { processes: 40 } };
const bash = (command: string) => ({ blocks: [toolUse("Bash", { command })] });

export function confinement(stage: Stage): void {
  stage.capability(
    "sandbox",
    () => {
      test("that is required and missing refuses the session before anything is stored", async () => {
        await using t = await testHost(() => say("never"));
        await using host = await t.another({ environment: { ...t.environment, PATH: "/nowhere" } });
        const started = host.startSession({ agent: stage.agent(), cwd: t.cwd, environment: SANDBOX });
        await expect(started).rejects.toMatchObject({ code: "sandbox_missing" });
        expect(await host.sessions()).toEqual([]);
      });

      describeSandbox("where there is one", () => {
        test("keeps commands from files outside the workspace", async () => {
          using outside = temporaryDirectory();
          const secret = join(outside.path, "secret.txt");
          writeFileSync(secret, "TOP-SECRET");
          await using t = await testHost(
            steps(
              bash(`cat ${secret}; echo read-$?`),
              bash(`echo x > ${join(outside.path, "written")}; echo wrote-$?`),
              bash("echo in > inside.txt && echo fine"),
            ),
          );
          const agent = stage.agent({ tools: ["Bash"] });
          const session = await t.host.startSession({ agent, cwd: t.cwd, environment: SANDBOX });
          await session.send("Try it.").result();
          const told = t.model.requests.flatMap(({ toolResults }) => toolResults.map(({ text }) => text)).join("\n");
          expect(told).not.toContain("TOP-SECRET");
          expect(told).toContain("fine");
          expect(existsSync(join(outside.path, "written"))).toBe(false);
          expect(existsSync(join(t.cwd, "inside.txt"))).toBe(true);
          const [started] = ofType(await t.host.read(session.id), "capstan.process_started");
          expect(started?.sandbox).toBe("on");
        });
      });
    },
    stage.expectRefusal({ environment: SANDBOX }),
  );

  stage.capability(
    "process_limits",
    () =>
      describe("for all processes of the session", () => {
        test("end the turn by name, with everything that it started", async () => {
          await using t = await testHost(steps(bash("for i in $(seq 1 120); do sleep 1000 & done; wait")));
          const agent = stage.agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });
          const session = await t.host.startSession({ agent, cwd: t.cwd, environment: LIMITS });
          const result = await session.send("Flood.").result();
          expect(result.stopReason).toEqual({ type: "budget_reached" });
          expect(result.limit).toMatchObject({ which: "processes", limit: 40 });
        });
      }),
    stage.expectRefusal({ environment: LIMITS }),
  );
}
