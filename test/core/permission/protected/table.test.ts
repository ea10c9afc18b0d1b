import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rowOfPath } from "../../../../src/core/permission/protected/match.ts";
import { PROTECTED } from "../../../../src/core/permission/protected/table.ts";

const PLACES = { workspace: "/home/person/ws", home: "/home/person" };

/** Names in the source that look like files of configuration, by why they have no row. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  "an ending, a prefix or a part of a name": [
    ".capstan-record-",
    ".css",
    ".csv",
    ".gif",
    ".html",
    ".ipynb",
    ".jpeg",
    ".jpg",
    ".json",
    ".part",
    ".pdf",
    ".png",
    ".sample",
    ".start",
    ".svg",
    ".txt",
    ".webp",
    "/.gitignore",
  ],
  "credentials of the person: hidden from agents, and no configuration": [
    ".aws",
    ".azure",
    ".cargo/credentials.toml",
    ".config",
    ".docker",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".ssh",
    ".terraform.d",
    ".vault-token",
    "application_default_credentials.json",
  ],
  "lies in a directory that has a row: .capstan, .claude, .git or Capstan's home": [
    ".claude-plugin",
    "agent.schema.json",
    "config.yaml",
    "configuration.json",
    "credentials.json",
    "hook-covers.json",
    "info/.claude-sandbox-noreplace",
    "launch.json",
    "leftovers.json",
    "loop.md",
    "objects/info/.claude-sandbox-noreplace",
    "objects/info/commit-graphs/.claude-sandbox-noreplace",
    "owner.json",
    "plugin.json",
    "sandbox-stubs.json",
    "scheduled_tasks.json",
    "settings.json",
    "settings.local.json",
    "state.json",
    "suite.schema.json",
    "tasks.json",
  ],
  "an example in an error message or a new project; known as an agent file by its content": [
    "input.yaml",
    "instructions.md",
    "invoice.schema.json",
    "reviewers/clarity.yaml",
    "reviewers/correctness.yaml",
    "suite.yaml",
  ],
  "text for the instructions, which cannot widen a permission": ["CLAUDE.md", "SKILL.md"],
  "ordinary files of a project": [".gitignore", "../../package.json", "package.json"],
  "other version control, which a search passes over and nothing reads": [".bzr", ".svn"],
  "written or served by Capstan, never read": ["/openapi.json", "report.json", "report.md"],
};
const EXPLAINED = Object.values(REASONS).flat();

/** A dot and a name, or a name with an ending that configuration has. */
const LOOKS_READ =
  /^(?:[\w./-]*\/)?(?:\.[a-z][a-z_-]{2,}(?:\.[a-z]+)*|[\w-]+(?:\.[\w-]+)*\.(?:ya?ml|json|toml|env|md|ini|conf))$/;

function namesInSource(): readonly string[] {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const literals = sources.flatMap((file) =>
    [...readFileSync(`src/${file}`, "utf8").matchAll(/"([^"\n]+)"|`([^`\n$]+)`/g)].map(
      ([, quoted, template]) => quoted ?? template ?? "",
    ),
  );
  return [...new Set(literals)].filter((text) => LOOKS_READ.test(text)).toSorted();
}

test("every file name that Capstan knows has a row, or a reason to have none", () => {
  const unexplained = namesInSource().filter(
    (name) => rowOfPath(`${PLACES.workspace}/${name}`, PLACES) === undefined && !EXPLAINED.includes(name),
  );
  expect(unexplained).toEqual([]);
});

test("every reason is for a name that is there and has no row", () => {
  const names = namesInSource();
  for (const name of EXPLAINED) {
    expect(names).toContain(name);
    expect(rowOfPath(`${PLACES.workspace}/${name}`, PLACES)).toBeUndefined();
  }
});

test("every row has its own pattern, and one that can be read", () => {
  const patterns = PROTECTED.map(({ pattern }) => pattern);
  expect(new Set(patterns).size).toBe(patterns.length);
  for (const pattern of patterns) expect(pattern).toMatch(/^(?:\*\*\/[^/]+\/?|~\/.+|\$[A-Z_]+\/?)$/);
});
