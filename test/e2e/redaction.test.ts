import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createRedactor } from "../../src/core/redaction/redaction.ts";
import { testCli } from "../support/cli.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say, scriptedModel, text, thinking, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/** Put together, so that no scanner takes this file for a leak. */
const shaped = (...parts: readonly string[]): string => parts.join("");
const PASTED = shaped("ghp_", "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYaB3d");
const PRINTED = shaped("AKIA", "IOSFODNN7EXAMPLE");
const OWN = "ACME-4711-0815-2342";
/** The other engine rebuilds its conversation from the log, in which there are markers only. */
const HAS_TRANSCRIPT = TEST_ENGINE === "claude";
const SECRETS = [PASTED, PRINTED, OWN, "a-value-of-the-session", "sk-ant-test-key-that-no-agent-may-see"];

test("no secret is in events, exports or output after a run in which one is pasted and one is printed", async () => {
  await using model = await scriptedModel((request) =>
    request.toolResults.length === 0
      ? { blocks: [text(`I will use ${PASTED}.`), toolUse("Bash", { command: "cat keys.txt" })] }
      : say(`The file says ${PRINTED} and ${OWN}.`),
  );
  using cli = testCli(model.url);
  writeFileSync(join(cli.cwd, "keys.txt"), `aws ${PRINTED}\nours ${OWN}\n`);
  const settings = `redact:\n  - { name: acme, pattern: 'ACME(-\\d{4}){3}' }\n`;
  mkdirSync(join(cli.home, ".capstan"), { mode: 0o700 });
  writeFileSync(join(cli.home, ".capstan", "config.yaml"), settings);

  const run = await cli.run(["run", "--json", "--mode", "yolo", `My token is ${PASTED}, use it.`]);
  expect(run.code).toBe(0);
  // The agent itself was told the truth.
  expect(model.requests[0]?.transcript).toContain(PASTED);
  expect(model.requests.at(-1)?.transcript).toContain(PRINTED);

  const id = /"sesn_[0-9a-f]+"/.exec((await cli.run(["sessions", "list", "--json"])).stdout)?.[0]?.slice(1, -1) ?? "?";
  const outputs = [
    run,
    await cli.run(["sessions", "list", "--json"]),
    await cli.run(["sessions", "show", id]),
    await cli.run(["sessions", "show", id, "--json"]),
    await cli.run(["sessions", "export", id]),
    await cli.run(["audit", "export"]),
  ].map(({ stdout, stderr }) => stdout + stderr);
  for (const output of outputs) {
    expect(output.length).toBeGreaterThan(50);
    for (const secret of SECRETS) expect(output).not.toContain(secret);
  }
  for (const name of ["github-token", "aws-key", "acme"]) expect(outputs[3]).toContain(`[redacted:${name}]`);

  const tables = tablesWith(join(cli.home, ".capstan", "capstan.db"), SECRETS);
  // The one exemption: the transcript of an engine that keeps one, needed to go on, private, never exported.
  expect(tables).toEqual(HAS_TRANSCRIPT ? ["transcript_entries"] : []);
  expect((await cli.run(["audit", "verify"])).code).toBe(0);
});

test("a session that goes on still knows the secret if its engine has a transcript, and sees the marker otherwise", async () => {
  await using t = await testHost((request) =>
    say(request.index === 0 ? `I noted ${PASTED}.` : `answer ${request.index}`),
  );
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send(`Remember ${PASTED}.`).result();
  await session.close();
  const resumed = await t.host.resumeSession(session.id);
  await resumed.send("And now?").result();
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "capstan.process_started").map(({ history }) => history)).toEqual(["new", "resumed"]);
  expect(t.model.requests.at(-1)?.transcript).toContain(
    `Remember ${HAS_TRANSCRIPT ? PASTED : "[redacted:github-token]"}.`,
  );
  expect(JSON.stringify(events)).not.toContain(PASTED);
});

test("when the transcript is lost, the agent sees the marker in its place", async () => {
  await using t = await testHost((request) =>
    request.index === 0
      ? { blocks: [thinking(`so ${PASTED}`), text(`I noted ${PASTED}.`)] }
      : say(`answer ${request.index}`),
  );
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send(`Remember ${PASTED}.`).result();
  await session.close();
  using database = new DatabaseSync(join(t.home, "capstan.db"));
  database.exec("DELETE FROM transcript_entries");
  const resumed = await t.host.resumeSession(session.id);
  expect((await resumed.send("And now?").result()).text).toBe("answer 1");
  const seen = JSON.stringify(t.model.requests.at(-1)?.body.messages);
  expect(seen).toContain("Remember [redacted:github-token].");
  expect(seen).toContain("I noted [redacted:github-token].");
  expect(seen).not.toContain(PASTED);
});

test("values of a session's variables and of the host's credentials are known", async () => {
  const key = "sk-ant-test-key-that-no-agent-may-see";
  await using t = await testHost((request) =>
    request.toolResults.length === 0
      ? call("Bash", { command: "printf '%s\\n' $MY_TOKEN $ANTHROPIC_AUTH_TOKEN > out.txt; cat out.txt" })
      : say(`It printed ${request.toolResults[0]?.text}, and I guess ${key}.`),
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { mode: "yolo" } }),
    cwd: t.cwd,
    variables: { MY_TOKEN: "a-value-of-the-session" },
  });
  const { text: answer } = await session.send("Print it.").result();
  expect(answer).toMatch(/^It printed \[redacted:MY_TOKEN\]\n?.*, and I guess \[redacted:ANTHROPIC_API_KEY\]\.$/s);
  const log = JSON.stringify(await eventsOf(t.host, session.id));
  for (const secret of SECRETS) expect(log).not.toContain(secret);
  expect(createRedactor().text(log)).toBe(log);
});

test("a preview is redacted where a secret stands in one piece of it", async () => {
  await using t = await testHost(() => say(`It is ${PASTED} I think`));
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  const seen: unknown[] = [];
  for await (const item of session.send("Say it.")) seen.push(item);
  expect(JSON.stringify(seen)).toContain("event_delta");
  expect(JSON.stringify(seen)).not.toContain(PASTED);
});

/** The tables of a store in which one of the texts stands. */
function tablesWith(path: string, texts: readonly string[]): string[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  return tables
    .map(({ name }) => String(name))
    .filter((name) => {
      const rows = JSON.stringify(database.prepare(`SELECT * FROM "${name}"`).all());
      return texts.some((text) => rows.includes(text));
    })
    .toSorted();
}
