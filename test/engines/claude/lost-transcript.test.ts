import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { agent, eventsOf, ofType, testHost } from "../../support/host.ts";
import { say, type ScriptedModel, text, thinking, toolUse } from "../../support/scripted-model.ts";

const worker = agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });

const script = (request: { toolResults: readonly unknown[]; last: string; index: number }) =>
  request.last.includes("Use the shell") && request.toolResults.length === 0
    ? { blocks: [thinking("hmm"), text("Looking."), toolUse("Bash", { command: "echo tool-says-$((40+2))" })] }
    : say(`answer ${request.index}`);

/** Everything the model must still know of the first turn. */
function expectFirstTurn(model: ScriptedModel): void {
  const seen = model.requests.at(-1)?.transcript;
  for (const part of ["Use the shell.", "Looking.", "echo tool-says-", "tool-says-42", "answer 1"])
    expect(seen).toContain(part);
}

const losses: Record<string, string> = {
  "is gone": "delete from transcript_entries",
  "has lost its end": "delete from transcript_entries where rowid > (select max(rowid) / 2 from transcript_entries)",
  "has lost its last answer":
    "delete from transcript_entries where rowid >= (select max(rowid) from transcript_entries where json_extract(entry, '$.type') = 'assistant')",
};
for (const [loss, sql] of Object.entries(losses))
  test(`a history is rebuilt from the log when the engine's transcript ${loss}`, async () => {
    await using t = await testHost(script);
    const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
    await session.send("Use the shell.").result();
    await session.close();
    using db = new DatabaseSync(join(t.home, "capstan.db"));
    expect(db.prepare(sql).run().changes).toBeGreaterThan(0);

    const resumed = await t.host.resumeSession(session.id);
    await resumed.send("What do you remember?").result();
    expectFirstTurn(t.model);
    expect(ofType(await eventsOf(t.host, session.id), "capstan.process_started").at(-1)?.history).toBe("reseeded");
    // Once rebuilt, the two agree again.
    await resumed.hibernate();
    await resumed.send("And now?").result();
    expectFirstTurn(t.model);
    expect(ofType(await eventsOf(t.host, session.id), "capstan.process_started").at(-1)?.history).toBe("resumed");
  });

test("what a compaction kept word for word is still there when the history is rebuilt", async () => {
  await using t = await testHost((request) =>
    request.last.includes("CRITICAL: Respond with TEXT ONLY") ? say("SUMMARY: it was long.") : script(request),
  );
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await session.send("A question from before.").result();
  await session.send("The last question before.").result();
  await session.compact().result();
  await session.close();
  using db = new DatabaseSync(join(t.home, "capstan.db"));
  db.exec("delete from transcript_entries");

  const resumed = await t.host.resumeSession(session.id);
  for (const history of ["reseeded", "resumed"]) {
    await resumed.send("What do you remember?").result();
    const seen = t.model.requests.at(-1)?.transcript;
    expect(seen).toContain("SUMMARY: it was long.");
    expect(seen).toContain("answer 1");
    expect(seen).not.toContain("A question from before.");
    expect(ofType(await eventsOf(t.host, session.id), "capstan.process_started").at(-1)?.history).toBe(history);
    await resumed.hibernate();
  }
});
