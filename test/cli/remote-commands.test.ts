import { Command } from "commander";
import { expect, test } from "vitest";
import { addCommands } from "../../src/cli/commands.ts";
import { type ServerUse, serverUse } from "../../src/cli/declare-command.ts";

const program = new Command();
addCommands(program);
const commands = leavesBelow(program);

test("every command declares what it does while a server is chosen", () => {
  expect(commands.filter(({ use }) => use === undefined)).toEqual([]);
});

test("commands about files and settings of this machine run whatever server is chosen", () => {
  expect(namesWith("ignored")).toEqual([
    "cassette diff",
    "cassette prune",
    "cassette show",
    "completion",
    "config show",
    "doctor",
    "init",
    "projects",
    "schema",
    "serve",
    "test",
    "trust add",
    "trust list",
    "trust revoke",
    "validate",
  ]);
});

test("commands that know only the sessions and keys of this machine are refused", () => {
  expect(namesWith("refused")).toEqual([
    "audit accept",
    "audit export",
    "audit verify",
    "auth login",
    "auth logout",
    "auth status",
    "auth test",
    "backup",
    "keys create",
    "keys list",
    "keys revoke",
    "prune",
    "record",
    "restore",
    "sessions delete",
    "sessions import",
    "sessions recover",
    "workspaces clean",
    "workspaces list",
  ]);
});

function namesWith(use: ServerUse): string[] {
  return commands.flatMap((one) => (one.use === use ? [one.name] : [])).toSorted();
}

interface Leaf {
  readonly name: string;
  readonly use: ServerUse | undefined;
}

function leavesBelow(command: Command, before: readonly string[] = []): Leaf[] {
  return command.commands.flatMap((child) => {
    const path = [...before, child.name()];
    return child.commands.length === 0 ? [{ name: path.join(" "), use: serverUse(child) }] : leavesBelow(child, path);
  });
}
