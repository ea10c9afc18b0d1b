import { describe, expect, test } from "vitest";
import { files, type Files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

async function load(tree: Files, allow?: string[]) {
  return loadTrusted({
    cwd: tree.at("app"),
    environment: { HOME: tree.path },
    flags: { allow },
    agentFile: "agent.yaml",
  });
}

const LAYERS = {
  ".capstan/config.yaml": "permissions:\n  deny: [Bash(rm *)]\n  ask: [Bash(git push *)]\n",
  "app/.capstan/config.yaml": "permissions:\n  deny: [Read(.env)]\n  allow: [Bash(npm test)]\n",
  "app/agent.yaml":
    "name: a\npermissions:\n  deny: [Bash(rm *)]\n  ask: [{ rule: Bash(git push *), remember: false }]\n  allow: [Bash(ls *)]\n",
};

describe("permission rules", () => {
  test("of all layers add up", async () => {
    using tree = files(LAYERS);
    const { agent } = await load(tree, ["Bash(make *)"]);
    expect(agent.permissions).toMatchObject({
      deny: ["Bash(rm *)", "Read(.env)"],
      ask: ["Bash(git push *)", { rule: "Bash(git push *)", remember: false }],
      allow: ["Bash(npm test)", "Bash(ls *)", "Bash(make *)"],
    });
  });

  test("each have a source", async () => {
    using tree = files(LAYERS);
    const values = await (await load(tree, ["Bash(make *)"])).values();
    const sources = values
      .filter(({ key }) => /^permissions\.(?:allow|ask|deny)$/.test(key))
      .map(({ value, source }) => [typeof value === "string" ? value : JSON.stringify(value), source.split(" (")[0]]);
    expect(Object.fromEntries(sources)).toEqual({
      "Bash(rm *)": "user",
      "Bash(git push *)": "user",
      "Read(.env)": "project",
      "Bash(npm test)": "project",
      '{"rule":"Bash(git push *)","remember":false}': "agent",
      "Bash(ls *)": "agent",
      "Bash(make *)": "flag --allow",
    });
  });

  test("with mistakes are told by file, line and column", async () => {
    const settings = `permissions:
  mode: acept-edits
  allow: ["*"]
  ask:
    - { rule: "Bsh(x)", remember: false }
    - { rule: Bash, rember: false }
    - 5
  deny:
    - Bash(a && b)
    - Read(~me/x)
`;
    using tree = files({ ...LAYERS, "app/.capstan/config.yaml": settings });
    const file = tree.at("app/.capstan/config.yaml");
    await expect(load(tree)).rejects.toMatchObject({
      code: "invalid_input",
      data: {
        problems: [
          expect.stringMatching(`${file}:2:9 permissions.mode: expected one of .*did you mean "accept-edits"`),
          expect.stringMatching(`${file}:3:11 permissions.allow.0: expected a tool: . alone can only deny or ask`),
          expect.stringMatching(`${file}:5:15 permissions.ask.0.rule: .*Bsh takes no pattern; did you mean Bash`),
          expect.stringMatching(`${file}:6:7 permissions.ask.1.remember: expected true or false`),
          expect.stringMatching(`${file}:6:21 permissions.ask.1.rember: unknown key; did you mean "remember"`),
          expect.stringMatching(`${file}:7:7 permissions.ask.2: expected text or a mapping .found 5`),
          expect.stringMatching(`${file}:9:7 permissions.deny.0: .*one rule for each command`),
          expect.stringMatching(`${file}:10:7 permissions.deny.1: .*~ means your own home`),
        ],
      },
    });
  });

  test("of a flag with a mistake name the flag", async () => {
    using tree = files(LAYERS);
    await expect(load(tree, ["Bash("])).rejects.toThrow(/^--allow: expected a closing parenthesis/);
  });
});
