import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { DOWN, ENTER, terminal } from "./ask-terminal.ts";

test("a new user's path: init, a line changed, validate, chat", async () => {
  using cli = testCli();
  const made = await cli.run(["init", "helper"]);
  expect(made).toEqual({
    code: 0,
    stderr: "",
    stdout: `✓ agent.yaml
✓ instructions.md
✓ .gitignore

Next:
  cd helper
  capstan validate
  capstan run --rehearsal --agent agent.yaml "list the files"
  capstan chat agent.yaml --rehearsal

With a key (capstan auth login, or ANTHROPIC_API_KEY in the shell) leave --rehearsal out.
`,
  });
  const cwd = join(cli.cwd, "helper");
  const file = join(cwd, "agent.yaml");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("\nname: helper\n");
  writeFileSync(file, text.replace("mode: normal", "mode: accept-edits"));
  const validated = await cli.run(["validate"], { cwd });
  expect(validated.stdout).toContain("✓ agent.yaml is valid: helper");
  expect(validated.stdout).toContain("permissions   accept-edits");
  expect(validated.code).toBe(0);
  const chat = await cli.run(["chat", "agent.yaml", "--rehearsal"], {
    cwd,
    input: "list the files\nwrite note.txt with Buy milk.\n",
  });
  expect(chat.stdout).toContain("instructions.md");
  expect(chat.code).toBe(0);
  expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe("Buy milk.");
});

test("nothing that is there is overwritten, and .gitignore gets a line", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, "reviewers"));
  writeFileSync(join(cli.cwd, "reviewers/clarity.yaml"), "mine");
  writeFileSync(join(cli.cwd, "agent.yaml"), "mine");
  writeFileSync(join(cli.cwd, ".gitignore"), "dist/");
  expect(await cli.run(["init", "--template", "reviewer"])).toEqual({
    code: 2,
    stdout: "",
    stderr: `capstan: agent.yaml, reviewers/clarity.yaml are in ${cli.cwd} already, and nothing was written. Choose another directory: capstan init DIR\n`,
  });
  expect(existsSync(join(cli.cwd, "instructions.md"))).toBe(false);
  writeFileSync(join(cli.cwd, "plain"), "");
  expect((await cli.run(["init", "plain/sub"])).stderr).toMatch(/^capstan: Cannot write .*plain\/sub\/agent\.yaml: /);
  expect((await cli.run(["init", "x", "--name", "Not A Name"])).stderr).toBe(
    'capstan: --name "Not A Name" cannot be an agent\'s name: lower-case letters, digits and dashes, starting with a letter.\n',
  );
  mkdirSync(join(cli.cwd, "mine"));
  writeFileSync(join(cli.cwd, "mine/.gitignore"), "dist/");
  expect((await cli.run(["init", "mine"])).stdout).toContain("✓ .gitignore (a line for .env)\n");
  expect(readFileSync(join(cli.cwd, "mine/.gitignore"), "utf8")).toBe("dist/\n.env\n");
});

test("at a terminal it asks for what was not given", async () => {
  using cli = testCli();
  await using screen = terminal(cli, ["init", "papers"]);
  await screen.sees("What is it to be?");
  screen.type(DOWN + DOWN + ENTER);
  await screen.sees("What is its name?");
  screen.type(`-2${ENTER}`);
  await screen.sees("Next:");
  expect(await screen.end()).toBe(0);
  const text = readFileSync(join(cli.cwd, "papers/agent.yaml"), "utf8");
  expect(text).toContain("name: papers-2\ndescription: Takes the facts out of invoices");
});
