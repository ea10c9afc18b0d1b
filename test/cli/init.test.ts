import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TEMPLATES } from "../../src/cli/init/init.ts";
import { schemaText } from "../../src/cli/agents/schema.ts";
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
✓ agent.test.yaml
✓ .capstan/config.yaml
✓ .capstan/agent.schema.json
✓ .capstan/suite.schema.json
✓ .gitignore

Next:
  cd helper
  capstan validate
  capstan run --rehearsal --agent agent.yaml "list the files"
  capstan test --rehearsal
  capstan chat agent.yaml --rehearsal

To use a real model, run capstan auth login (or set ANTHROPIC_API_KEY in the shell or in .env) and omit --rehearsal.
`,
  });
  const cwd = join(cli.cwd, "helper");
  const file = join(cwd, "agent.yaml");
  const text = readFileSync(file, "utf8");
  expect(text).toContain("\nname: helper\n");
  const [, schema = ""] = /^# yaml-language-server: \$schema=(.*)$/m.exec(text) ?? [];
  expect(readFileSync(join(cwd, schema), "utf8")).toBe(schemaText());
  writeFileSync(file, text.replace("mode: normal", "mode: accept-edits"));
  const validated = await cli.run(["validate"], { cwd });
  expect(validated.stdout).toContain("✓ agent.yaml is valid: helper");
  expect(validated.stdout).toContain("permissions   accept-edits");
  expect(validated.stdout).toContain("\nChat with it: capstan chat agent.yaml --rehearsal\n");
  expect(validated.code).toBe(0);
  const suite = readFileSync(join(cwd, "agent.test.yaml"), "utf8");
  expect(suite).toContain("# yaml-language-server: $schema=./.capstan/suite.schema.json\n");
  expect(readFileSync(join(cwd, ".capstan/suite.schema.json"), "utf8")).toBe(schemaText("suite"));
  // It is a project, and what stands in its .env counts.
  writeFileSync(join(cwd, ".env"), "ANTHROPIC_API_KEY=sk-ant-test\n");
  // Both were written by hand.
  const { stdout: trusted } = await cli.run(["trust", "--yes"], { cwd });
  expect(trusted).toContain("✓ .env is now trusted with this content.\n✓ agent.yaml is now trusted with this content.");
  expect((await cli.run(["validate", "."], { cwd })).stdout).toMatch(/\n\nChat with it: capstan chat agent\.yaml\n$/);
  const { stdout: config } = await cli.run(["config"], { cwd });
  expect(config).toContain(`project (${join(cwd, ".capstan")})`);
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
    stderr: `capstan: agent.yaml, reviewers/clarity.yaml already exist in ${cli.cwd}, so nothing was written. Choose another directory: capstan init DIR\n`,
  });
  expect(existsSync(join(cli.cwd, "instructions.md"))).toBe(false);
  writeFileSync(join(cli.cwd, "plain"), "");
  expect((await cli.run(["init", "plain/sub"])).stderr).toMatch(/^capstan: Cannot write .*plain\/sub\/agent\.yaml: /);
  expect((await cli.run(["init", "x", "--name", "Not A Name"])).stderr).toBe(
    'capstan: --name "Not A Name" is not a valid agent name: lower-case letters, digits and dashes, starting with a letter.\n',
  );
  mkdirSync(join(cli.cwd, "mine"));
  writeFileSync(join(cli.cwd, "mine/.gitignore"), "dist/");
  expect((await cli.run(["init", "mine"])).stdout).toContain("✓ .gitignore (added .env)\n");
  expect(readFileSync(join(cli.cwd, "mine/.gitignore"), "utf8")).toBe("dist/\n.env\n");
});

test("within a project it makes no other one, and in the home directory none at all", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  const within = await cli.run(["init", "agents/helper"]);
  expect(within.stdout).toContain(
    "✓ agent.test.yaml\n✓ ../../.capstan/agent.schema.json\n✓ ../../.capstan/suite.schema.json\n✓ .gitignore\n",
  );
  expect(within.stdout).toContain("ANTHROPIC_API_KEY in the shell or in ../../.env)");
  expect(readFileSync(join(cli.cwd, "agents/helper/agent.yaml"), "utf8")).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.\.\/\.capstan\/agent\.schema\.json\n/,
  );
  const home = await cli.run(["init"], { cwd: cli.home });
  expect(home.stdout).toContain("✓ agent.test.yaml\n✓ agent.schema.json\n✓ suite.schema.json\n✓ .gitignore\n");
  expect(home.stdout).toContain("ANTHROPIC_API_KEY in the shell) and omit --rehearsal.");
  expect(existsSync(join(cli.home, ".capstan/config.yaml"))).toBe(false);
});

test("at a terminal it asks for what was not given", async () => {
  using cli = testCli();
  await using screen = terminal(cli, ["init", "papers"]);
  await screen.sees("Which template?");
  screen.type(DOWN + DOWN + ENTER);
  await screen.sees("Agent name?");
  screen.type(`-2${ENTER}`);
  await screen.sees("Next:");
  expect(await screen.end()).toBe(0);
  const text = readFileSync(join(cli.cwd, "papers/agent.yaml"), "utf8");
  expect(text).toContain("name: papers-2\ndescription: Takes the facts out of invoices");
});

test("the suite of each template passes in rehearsal", async () => {
  using cli = testCli();
  for (const template of Object.keys(TEMPLATES)) await cli.run(["init", template, "--template", template]);
  const { code, stdout } = await cli.run(["test", "--rehearsal"]);
  expect(stdout).toContain("4 passed in");
  expect(code).toBe(0);
});
