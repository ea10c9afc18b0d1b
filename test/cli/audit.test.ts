import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { type Cli, preparedCli, testCli } from "../support/cli.ts";
import { verifyAlone } from "../support/verify-audit.ts";
import { sessionOf } from "./workspaces-sessions.ts";

const database = (cli: Cli): string => join(cli.home, ".capstan", "capstan.db");
const keyFile = (cli: Cli): string => join(cli.home, ".capstan", "audit-key.pem");

/** A store with two sessions: one that waits for an answer, as a run leaves it, and one that is done. */
const prepared = preparedCli(async (open) => {
  using cli = open();
  const { stdout } = await cli.run(["run", "--rehearsal", "run echo apples"]);
  const apples = /session ([0-9a-f]{8})/.exec(stdout)?.[1] ?? "?";
  return { apples, hello: await sessionOf(cli, ["hello"]) };
});

function tamper(cli: Cli, sql: string): void {
  using intruder = new DatabaseSync(database(cli), { enableForeignKeyConstraints: false });
  intruder.exec(sql);
}

test("a store is sound after runs, a deletion, an import, a backup and its restoration", async () => {
  using cli = await prepared();
  const { apples: first, hello: second } = cli.made;
  expect(statSync(keyFile(cli)).mode & 0o777).toBe(0o600);
  await cli.run(["sessions", "export", first, "-o", "first.jsonl"]);
  await cli.run(["backup", "copy.db"]);
  expect((await cli.run(["sessions", "delete", second])).code).toBe(0);
  expect((await cli.run(["sessions", "import", "first.jsonl"])).code).toBe(0);
  const sound = await cli.run(["audit", "verify"]);
  expect(sound.code).toBe(0);
  expect(sound.stdout).toMatch(new RegExp(`✓ ${second} ok: \\d+ events, erased`));
  expect(sound.stdout).toMatch(/^verified: 3 sessions, \d+ seals, key [0-9a-f]{16}$/m);
  expect(sound.stdout).not.toContain("not signed");

  expect((await cli.run(["restore", "copy.db"])).code).toBe(0);
  const restored = await cli.run(["audit", "verify"]);
  expect(restored.stdout).toMatch(/^note .* restored: .*copy\.db$/m);
  expect(restored.stdout).toMatch(/^verified: 2 sessions/m);
  expect(restored.code).toBe(0);
  await sessionOf(cli, ["hello again"]);
  expect((await cli.run(["audit", "verify"])).code).toBe(0);
});

test("tampering ends with exit code 3, and says session, event, what is wrong and what to do", async () => {
  using cli = await prepared();
  const { hello: id, apples: other } = cli.made;
  tamper(cli, `UPDATE events SET event = replace(event, 'hello', 'hallo') WHERE session_id LIKE '%${id}' AND seq = 1`);
  const found = await cli.run(["audit", "verify"]);
  expect(found.code).toBe(3);
  expect(found.stdout).toContain(`✗ ${id} altered`);
  expect(found.stdout).toContain(`✓ ${other} ok`);
  expect(found.stdout).toMatch(
    new RegExp(`^found session sesn_\\w+${id}, event 1: the event does not match its hash.*\\n    → .*backup`, "m"),
  );
  expect(found.stdout).toMatch(/^verification failed: 1 finding;/m);

  const lines = (await cli.run(["audit", "verify", "--json"])).stdout.trim().split("\n");
  const json = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(json.filter(({ type }) => type === "finding")).toMatchObject([{ kind: "altered", seq: 1 }]);
  expect(json.at(-1)).toMatchObject({ type: "report", sound: false, sessions: 2, findings: 1 });

  expect((await cli.run(["audit", "verify", "--session", other])).code).toBe(0);
  expect((await cli.run(["audit", "verify", "--session", id])).code).toBe(3);
  expect((await cli.run(["audit", "verify", "--session", "nobody"])).code).toBe(2);
});

test("a lost key stops writing with the next step, which mends it", async () => {
  using cli = await prepared();
  rmSync(keyFile(cli));
  const refused = await cli.run(["run", "--rehearsal", "hello"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/audit-key\.pem is missing.*CAPSTAN_AUDIT_KEY_FILE.*capstan audit accept/);
  expect((await cli.run(["sessions", "list"])).code).toBe(0);
  expect((await cli.run(["audit", "verify"])).code).toBe(3);
  expect((await cli.run(["audit", "accept"])).code).toBe(2);
  expect((await cli.run(["audit", "accept", "--reason", "the disk died"])).code).toBe(0);
  expect((await cli.run(["run", "--rehearsal", "hello"])).code).toBe(0);
  const verified = await cli.run(["audit", "verify"]);
  expect(verified.stdout).toContain("accepted: the disk died");
  expect(verified.code).toBe(0);
});

test("the key can be elsewhere, and a project cannot say where", async () => {
  using cli = testCli();
  const elsewhere = join(cli.home, "keys", "mine.pem");
  const environment = { CAPSTAN_AUDIT_KEY_FILE: elsewhere };
  expect((await cli.run(["run", "--rehearsal", "hello"], { environment })).code).toBe(0);
  expect(existsSync(elsewhere)).toBe(true);
  expect(existsSync(keyFile(cli))).toBe(false);
  expect((await cli.run(["audit", "verify"], { environment })).code).toBe(0);
  expect((await cli.run(["audit", "verify"])).code).toBe(3);
  const relative = await cli.run(["audit", "verify"], { environment: { CAPSTAN_AUDIT_KEY_FILE: "mine.pem" } });
  expect([relative.code, relative.stderr]).toEqual([2, expect.stringContaining("absolute path")]);
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".env"), `CAPSTAN_AUDIT_KEY_FILE=${elsewhere}\n`);
  const refused = await cli.run(["run", "--rehearsal", "hello"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("Set it in the shell")]);
});

test("an export can be checked without Capstan, with node:crypto alone", async () => {
  using cli = await prepared();
  const { apples: id, hello } = cli.made;
  await cli.run(["sessions", "delete", hello]);
  expect((await cli.run(["audit", "export", "-o", "audit.jsonl"])).code).toBe(0);
  const file = join(cli.cwd, "audit.jsonl");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(verifyAlone(readFileSync(file, "utf8"))).toEqual([]);
  const { stdout } = await cli.run(["audit", "verify", "--file", "audit.jsonl"]);
  expect(stdout).toMatch(/^verified: 2 sessions/m);

  const one = (await cli.run(["audit", "export", "--session", id])).stdout;
  expect(one.match(/"record":"session"/g)).toHaveLength(1);
  expect(verifyAlone(one)).toEqual([]);
  expect((await cli.run(["audit", "export", "--since", "1h"])).stdout.match(/"record":"session"/g)).toHaveLength(2);
  expect((await cli.run(["audit", "export", "--since", "2999-01-01"])).stdout).not.toContain('"record":"session"');
  expect((await cli.run(["audit", "export", "--since", "yesterday"])).code).toBe(2);
});

test("an exported file that was altered is found, by us and without us", async () => {
  using cli = await prepared();
  const whole = (await cli.run(["audit", "export"])).stdout;
  const lines = whole.trim().split("\n");
  const last = lines.findLastIndex((line) => line.includes('"record":"event"'));
  const altered: Record<string, string> = {
    event: whole.replace("echo apples", "echo grapes"),
    cut: `${lines.toSpliced(last, 1).join("\n")}\n`,
    removed: `${lines.toSpliced(last - 2, 1).join("\n")}\n`,
    // Rows of the ledger follow from the log; an outsider who only checks hashes does not look at them.
    ledger: `${lines.slice(0, -1).join("\n")}\n`,
    seal: whole.replace(/"head_seq":(\d+),"head_hash":"\w+","note"/, '"head_seq":$1,"head_hash":"00","note"'),
    session: `${lines.filter((line) => !/"record":"(session|event)"/.test(line)).join("\n")}\n`,
  };
  for (const [what, text] of Object.entries(altered)) {
    expect(text, what).not.toBe(whole);
    writeFileSync(join(cli.cwd, `${what}.jsonl`), text);
    expect((await cli.run(["audit", "verify", "--file", `${what}.jsonl`])).code, what).toBe(3);
    if (what !== "ledger") expect(verifyAlone(text), what).not.toEqual([]);
  }
});

test("wrong use of the commands is told", async () => {
  using cli = await prepared();
  writeFileSync(join(cli.cwd, "letter.jsonl"), "Dear reader\n");
  writeFileSync(join(cli.cwd, "empty.jsonl"), "");
  for (const [args, said] of [
    [["audit", "verify", "--file", "missing.jsonl"], /File not found: missing/],
    [["audit", "verify", "--file", "."], /is a directory\. Name the file/],
    [["audit", "export", "-o", "nowhere/audit.jsonl"], /Cannot write nowhere\/audit\.jsonl: no such/],
    [["audit", "verify", "--file", "letter.jsonl"], /Line 1 is not a line of an exported audit/],
    [["audit", "verify", "--file", "empty.jsonl"], /empty/],
    [["audit", "verify", "--file", "x", "--session", "y"], /cannot be combined/],
    [["audit", "verify", "--key", "x"], /requires --file/],
    [["audit", "export", "-o", "empty.jsonl"], /already exists/],
  ] as const) {
    const { code, stderr } = await cli.run(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
  }
  await cli.run(["audit", "export", "-o", "audit.jsonl"]);
  const other = await cli.run(["audit", "verify", "--file", "audit.jsonl", "--key", "0123456789abcdef"]);
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("does not name the key")]);
});
