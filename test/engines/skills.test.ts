import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { skillOptions } from "../../src/engines/claude/skills.ts";
import { requireUsableSkills, writeSkills } from "../../src/engines/skills.ts";
import { agent, temporaryDirectory } from "../support/host.ts";

const skill = (content: string) => ({ files: { "SKILL.md": { content, encoding: "utf8" as const } } });
const head = (fields: string): string => `---\n${fields}\n---\n\nDo it.\n`;
const withSkills = (skills: Record<string, ReturnType<typeof skill>>) => parseAgent(agent({ skills }));

describe("a skill that could not be used as it is meant is refused by name", () => {
  test.each<[string, string, RegExp]>([
    ["without a head", "Do it.", /no description/],
    ["without a description", head("name: tidy"), /no description/],
    ["of another name", head("name: clean\ndescription: Cleans."), /has the name clean, but rules would use tidy/],
    ["with hooks in quotes", head('name: tidy\ndescription: Tidies.\n"hooks": {}'), /has hooks: /],
    ["with hooks as a long key", head("name: tidy\ndescription: Tidies.\n? hooks\n: {}"), /has hooks: /],
    ["with hooks", head("name: tidy\ndescription: Tidies.\nhooks:\n  Stop: []"), /has hooks: .*the agent's hooks/],
    ["with a context of its own", head("description: Tidies.\ncontext: fork"), /has context: .*subagent/],
    ["for people only", head("description: Tidies.\ndisable-model-invocation: true"), /nothing could use it/],
  ])("%s", (_what, content, problem) => {
    expect(() => requireUsableSkills(withSkills({ tidy: skill(content) }))).toThrow(
      expect.objectContaining({ code: "invalid_agent", message: expect.stringMatching(problem) as string }),
    );
  });

  test.each([
    head("name: tidy\ndescription: Tidies."),
    head('name: "tidy"\ndescription: >-\n  Tidies up\n  when asked.\nlicense: MIT\nallowed-tools: Read'),
    head("description: Tidies.\nmetadata:\n  hooks: none").replaceAll("\n", "\r\n"),
  ])("and one that can is not", (content) => {
    expect(() => requireUsableSkills(withSkills({ tidy: skill(content) }))).not.toThrow();
  });
});

describe("the skills of a process", () => {
  test("are written anew from the definition, and nobody else can read them", () => {
    using directory = temporaryDirectory();
    const stateDir = directory.path;
    const files = {
      "SKILL.md": { content: head("description: Tidies."), encoding: "utf8" as const },
      "bin/run": { content: Buffer.from([0, 255, 1]).toString("base64"), encoding: "base64" as const },
    };
    const definition = parseAgent(agent({ skills: { tidy: { files } } }));
    const [plugin] = skillOptions({ agent: definition, stateDir }).plugins ?? [];
    const root = plugin?.path ?? "";
    mkdirSync(join(root, "skills", "old"), { recursive: true });
    writeFileSync(join(root, "skills", "old", "SKILL.md"), "of an earlier version");
    writeSkills({ agent: definition, stateDir });
    expect(existsSync(join(root, "skills", "old"))).toBe(false);
    expect(readFileSync(join(root, "skills", "tidy", "SKILL.md"), "utf8")).toBe(files["SKILL.md"].content);
    expect([...readFileSync(join(root, "skills", "tidy", "bin", "run"))]).toEqual([0, 255, 1]);
    expect(statSync(join(root, "skills", "tidy", "SKILL.md")).mode & 0o777).toBe(0o600);
  });

  test("are the only ones that the CLI offers; without any it is told of none", () => {
    const definition = withSkills({ tidy: skill(head("description: Tidies.")) });
    expect(skillOptions({ agent: definition, stateDir: "/state" })).toEqual({
      plugins: [{ type: "local", path: "/state/plugin", skipMcpDiscovery: true }],
      skills: ["agent:tidy"],
    });
    expect(skillOptions({ agent: parseAgent(agent()), stateDir: "/state" })).toEqual({});
  });
});
