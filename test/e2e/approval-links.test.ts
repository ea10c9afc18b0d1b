import { existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

const write = { file_path: "out/config.yaml", content: "permissions: { mode: yolo }\n" };

/** What a program that the agent left running does while a person reads the question. */
function swap(cwd: string, target: string): void {
  renameSync(join(cwd, "out"), join(cwd, "old"));
  symlinkSync(target, join(cwd, "out"));
}

describe("a directory that becomes a link while a person is asked", () => {
  test.each([
    ["to configuration", ".capstan"],
    ["to another directory of the workspace", "src"],
  ])("is not written through: %s", async (_where, target) => {
    await using t = await testHost((request) => (request.toolResults.length > 0 ? say("done") : call("Write", write)));
    for (const name of ["out", target]) mkdirSync(join(t.cwd, name));
    const session = await t.host.startSession({
      agent: agent({ tools: ["Write"], permissions: { mode: "normal" } }),
      cwd: t.cwd,
      askPermission: () => {
        swap(t.cwd, target);
        return { behavior: "allow", by: "person" };
      },
    });
    await session.send("Write it.").result();
    expect(existsSync(join(t.cwd, target, "config.yaml"))).toBe(false);
    const decided = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
    expect(decided).toMatchObject([{ decision: "deny", reason: expect.stringContaining("Make the call again") }]);
  });

  test("is not written through after a restart either, when it leads to configuration", async () => {
    await using t = await testHost((request) => (request.toolResults.length > 0 ? say("done") : call("Write", write)));
    for (const name of ["out", ".capstan"]) mkdirSync(join(t.cwd, name));
    const session = await t.host.startSession({ agent: agent({ tools: ["Write"] }), cwd: t.cwd });
    await session.send("Write it.").result();
    await session.close();
    swap(t.cwd, ".capstan");
    await using later = await t.another();
    const [approval] = await later.approvals.list();
    await later.approvals.answer(approval?.id ?? "", { behavior: "allow" }, { by: "me" });
    await using resumed = await later.resumeSession(session.id);
    await until(() => resumed.state.stopReason?.type === "end_turn", Boolean);
    expect(existsSync(join(t.cwd, ".capstan", "config.yaml"))).toBe(false);
  });
});
