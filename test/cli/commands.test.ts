import { Command } from "commander";
import { expect, test } from "vitest";
import { addCommands } from "../../src/cli/commands.ts";

function programFor(asked?: string): Command {
  const program = new Command("capstan");
  addCommands(program, asked);
  return program;
}

const all = programFor().commands;

test.for(all.map((command) => command.name()))("%s is the same when it is added alone", (name) => {
  const [alone, among] = [programFor(name).commands, all].map((commands) =>
    commands.find((one) => one.name() === name),
  );
  expect(among).toBeDefined();
  expect(alone?.helpInformation()).toBe(among?.helpInformation());
  expect(alone?.commands.map((one) => one.helpInformation())).toEqual(
    among?.commands.map((one) => one.helpInformation()),
  );
});

test("only what is asked for is added, and all when nothing known is", () => {
  expect(programFor("validate").commands.map((command) => command.name())).toEqual(["validate"]);
  for (const asked of [undefined, "--help", "help", "completion", "nonsense"])
    expect(programFor(asked).commands).toHaveLength(all.length);
});
