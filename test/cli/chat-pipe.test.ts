import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { messagesIn } from "../../src/cli/chat/pipe.ts";
import { type Cli, exitOf, testCli } from "../support/cli.ts";

let cli: Cli;
beforeAll(() => {
  cli = testCli();
  writeFileSync(join(cli.cwd, "notes.txt"), "Buy milk.\n");
  writeFileSync(
    join(cli.cwd, "agent.yaml"),
    'name: helper\ntools: [Read, Glob, Bash]\ncommands: { look: { prompt: "read {{args}}" } }\n',
  );
});
afterAll(() => cli[Symbol.dispose]());

test("a message is a line; a backslash at its end takes the next one in", async () => {
  const input = new PassThrough();
  input.end("one\n\n  \ntwo\\\nlines\r\nlast\\");
  expect(await Array.fromAsync(messagesIn(input))).toEqual(["one", "two\nlines", "last"]);
});

test("in a pipe each line is a message or a command, and the output is plain text", async () => {
  const input = "/mode accept-edits\n/look notes.txt\n/cost\n/loko x\n/usr/bin is a path\n/quit\nnever said\n";
  const { code, stdout, stderr } = await cli.run(["chat", "--rehearsal", "agent.yaml"], { input });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("Mode is now accept-edits.");
  // What was written is shown and kept, and not what it stands for.
  expect(stdout).toContain("> /look notes.txt\n\n✓ Read notes.txt");
  expect(stdout).toContain("notes.txt says:\n1\tBuy milk.".replace("\t", "    "));
  expect(stdout).toMatch(/\$0\.\d+ rehearsal in 2 model requests/);
  expect(stdout).toContain("Unknown command /loko. Did you mean /look?");
  expect(stdout).toContain("> /usr/bin is a path");
  expect(stdout).not.toContain("never said");
  expect(stdout).not.toContain("\u001B");
});

test("in a pipe a choice is printed, with how to make it; a log is not written among the session's files", async () => {
  const input = "write a.txt with x\n/mode\n/sessions\n/rewind\n/export\n/export mine.jsonl\n/answer\n";
  const { code, stdout } = await cli.run(["chat", "--rehearsal", "--mode", "accept-edits"], { input });
  expect(code).toBe(0);
  expect(stdout).toContain("Current mode: accept-edits. Which one?\n  normal (asks unless");
  expect(stdout).toContain("Choose one with: /mode plan");
  expect(stdout).toMatch(/Which session\?\n {2}[0-9a-f]{8} {2}write a\.txt with x \(/);
  expect(stdout).toMatch(/Choose one with: \/sessions [0-9a-f]{8}\n/);
  expect(stdout).toMatch(/Which checkpoint\?\n {2}[0-9a-f]{8} {2}turn 1, before Write a\.txt \(/);
  expect(stdout).toMatch(/Choose one with: \/rewind [0-9a-f]{8}, or \/rewind turn\n/);
  const [, file = ""] = /log written to (\S*\/exports\/session-[0-9a-f]{8}\.jsonl)\./.exec(stdout) ?? [];
  expect(file.startsWith(cli.home)).toBe(true);
  expect(readFileSync(file, "utf8")).toContain('"user.message"');
  expect(stdout).toContain("mine.jsonl.\nThe file is in the session's workspace, so a rewind may remove it.");
  expect(stdout).toContain("No questions are waiting.");
});

test("a call that nobody can be asked about ends it with what waits", async () => {
  const asked = await cli.run(["chat", "--rehearsal"], { input: "run touch a.txt\nlist the files\n" });
  expect(asked.code).toBe(5);
  expect(asked.stderr).toContain("capstan approvals answer");
  expect(asked.stdout).not.toContain("list the files");
  // The session can be looked at meanwhile.
  const seen = await cli.run(["chat", "--rehearsal", "-c"], { input: "/cost\n/answer\n" });
  expect(seen.code).toBe(0);
  expect(seen.stdout).toContain("it cannot be answered here. See: capstan approvals list");
});

test("a turn that fails ends it; --continue goes on with the project's last session", async () => {
  const failed = await cli.run(["chat", "--rehearsal"], { input: "fail\nlist the files\n" });
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain("! ");
  const { code, stdout } = await cli.run(["chat", "--rehearsal", "-c"], { input: "read notes.txt\n" });
  expect(code).toBe(0);
  // Where it stands is shown first.
  expect(stdout).toMatch(/> fail[\s\S]*> read notes\.txt[\s\S]*Buy milk\./);
});

test("without a project, --continue stays in its directory; what a dead host left in a turn is ended first", async () => {
  const cwd = join(cli.home, "elsewhere");
  mkdirSync(cwd);
  const none = await cli.run(["chat", "--rehearsal", "-c"], { cwd, input: "hello\n" });
  expect(none.code).not.toBe(0);
  expect(none.stderr).toContain("This directory has no sessions yet. Start one: capstan chat");
  const input = "run touch begun; sleep 60\n";
  const left = cli.start(["chat", "--rehearsal", "--mode", "yolo"], { cwd, input });
  await expect.poll(() => existsSync(join(cwd, "begun")), { timeout: 20_000 }).toBe(true);
  left.kill("SIGKILL");
  await exitOf(left);
  const next = await cli.run(["chat", "--rehearsal"], { input: "/sessions\n" });
  expect(next.stderr).toMatch(
    /was interrupted when its host died; Capstan ended the turn\. Continue with: capstan chat --resume/,
  );
  expect(next.stdout).toContain("[~/elsewhere] run touch begun");
  const { stdout } = await cli.run(["chat", "--rehearsal", "-c"], { cwd, input: "/cost\n" });
  expect(stdout).toContain("> run touch begun; sleep 60");
});

test.each([
  { args: ["chat", "a.yaml", "--agent", "b.yaml"], says: "Two agents given: a.yaml and b.yaml." },
  { args: ["chat", "--attach", "example.org"], says: "Set it to an address" },
])("wrong use is told, with exit code 2: $args", async ({ args, says }) => {
  const { code, stderr } = await cli.run([...args, "--rehearsal"]);
  expect(stderr).toContain(says);
  expect(code).toBe(2);
});
