import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { messagesIn } from "../../src/cli/chat/pipe.ts";
import { type Cli, testCli } from "../support/cli.ts";

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
  expect(stdout).toContain("The mode is now accept-edits.");
  expect(stdout).toContain("> read notes.txt\n\n✓ Read notes.txt");
  expect(stdout).toContain("notes.txt says:\n1\tBuy milk.".replace("\t", "    "));
  expect(stdout).toMatch(/\$0\.\d+ rehearsal in 2 model requests/);
  expect(stdout).toContain("There is no command /loko. Did you mean /look?");
  expect(stdout).toContain("> /usr/bin is a path");
  expect(stdout).not.toContain("never said");
  expect(stdout).not.toContain("\u001B");
});

test("a call that nobody can be asked about ends it with what waits", async () => {
  const asked = await cli.run(["chat", "--rehearsal"], { input: "run touch a.txt\nlist the files\n" });
  expect(asked.code).toBe(5);
  expect(asked.stderr).toContain("capstan approvals answer");
  expect(asked.stdout).not.toContain("list the files");
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

test.each([
  { args: ["chat", "a.yaml", "--agent", "b.yaml"], says: "The agent is given twice: a.yaml and b.yaml." },
  { args: ["chat", "--attach", "example.org"], says: "must be an address" },
])("wrong use is told, with exit code 2: $args", async ({ args, says }) => {
  const { code, stderr } = await cli.run([...args, "--rehearsal"]);
  expect(stderr).toContain(says);
  expect(code).toBe(2);
});
