import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { verifyAudit } from "../../src/app/audit/audit.ts";
import { openStore } from "../../src/app/open-store.ts";
import { eraseSession, importArchive } from "../../src/app/record/session-files.ts";
import { exportSession } from "../../src/runtime/files/export-session.ts";
import { readOutput } from "../../src/runtime/outputs/read-output.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";

const worker = agent({ tools: ["Bash"], permissions: { mode: "yolo" } });

test("the whole of a long output is kept without its secrets, goes with the session, and is erased with it", async () => {
  await using t = await testHost(obedient);
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  const command = "seq 1 15000; echo password=hunter2hunter2; seq 15001 30000; echo the end";
  await session.send(order(["Bash", { command }])).result();
  // The model has what the engine gives it: a part, and where the whole is.
  const told = t.model.requests.at(-1)?.toolResults.at(-1)?.text ?? "";
  expect(told).toMatch(/saved to: \S|bytes are in \S/);
  expect(told.length).toBeLessThan(40_000);
  const [result] = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
  expect(result?.whole_output).toMatchObject({ total: expect.any(Number) as number });
  expect(JSON.stringify(result).length).toBeLessThan(50_000);
  const call = result?.call_id ?? "";
  const hash = result?.whole_output?.hash ?? "";
  await using fork = await t.host.forkSession(session.id);
  await session.close();

  await using store = await openStore(t.home, {});
  const output = (await readOutput(store, session.id, call)).toString();
  expect(output).toMatch(/^1\n2\n3\n[^]*\n29999\n30000\nthe end\n$/);
  expect(output).not.toContain("hunter2");
  expect((await readOutput(store, fork.id, call.slice(-6))).toString()).toBe(output);
  const file = join(t.home, "outputs", session.id, hash);
  expect([statSync(file).mode & 0o777, statSync(join(file, "..")).mode & 0o777]).toEqual([0o600, 0o700]);

  const place = { home: t.home, environment: {} };
  expect((await verifyAudit(place)).findings).toEqual([]);
  const lines = await Array.fromAsync(exportSession(store, session.id));
  const imported = await importArchive(store, fromLines(lines), { trust: true });
  expect((await readOutput(store, imported, call)).toString()).toBe(output);
  const forged = lines.map((line) => line.replace(/"content":"[^"]{8}/, '"content":"AAAAAAAA'));
  await expect(importArchive(store, fromLines(forged), { trust: true })).rejects.toThrow(/does not match the hash/);

  await eraseSession(store, { home: t.home, sessionId: session.id, discardChanges: true });
  expect(existsSync(join(t.home, "outputs", session.id))).toBe(false);
  writeFileSync(join(t.home, "outputs", imported, hash), "something else");
  await expect(readOutput(store, imported, call)).rejects.toThrow(/was changed after it was saved/);
  const { sound, findings } = await verifyAudit(place);
  expect(sound).toBe(false);
  expect(findings).toMatchObject([
    { kind: "altered", session_id: imported, problem: expect.stringContaining(hash) as string },
  ]);
  expect(readdirSync(join(t.home, "outputs", fork.id))).toEqual([hash]);
});

async function* fromLines(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
