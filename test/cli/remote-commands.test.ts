import { Command } from "commander";
import { expect, test } from "vitest";
import { addCommands } from "../../src/cli/commands.ts";
import { ABOUT_HERE, SERVED } from "../../src/cli/target/remote-commands.ts";

test("every command that is listed for servers exists", () => {
  const program = new Command();
  addCommands(program);
  const names = namesBelow(program);
  expect([...SERVED, ...ABOUT_HERE].filter((name) => !names.includes(name))).toEqual([]);
});

test("capstan projects is about this machine, whatever server is chosen", () => {
  expect(ABOUT_HERE).toContain("projects");
});

function namesBelow(command: Command, before: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const path = [...before, child.name()];
    return [path.join(" "), ...namesBelow(child, path)];
  });
}
