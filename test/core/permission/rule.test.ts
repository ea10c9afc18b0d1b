import { describe, expect, test } from "vitest";
import { parseRule, unknownTool } from "../../../src/core/rules/rule.ts";
import { compileRules } from "../../../src/core/permission/rule-set.ts";
import { BUILT_IN_TOOLS } from "../../../src/core/rules/tool-names.ts";
import { BUILTIN_NAMES } from "../../../src/engines/builtin-tools.ts";

describe("a rule", () => {
  test.each([
    ["Bash", { kind: "tool", tool: "Bash" }],
    ["bash", { kind: "tool", tool: "Bash", written: "bash" }],
    ["web_fetch", { kind: "tool", tool: "WebFetch" }],
    ["Task", { kind: "tool", tool: "Agent" }],
    ["deploy", { kind: "tool", tool: "deploy" }],
    ["Bash(*)", { kind: "tool", tool: "Bash" }],
    ["*", { kind: "any" }],
    ["Bash(git status)", { kind: "command" }],
    ["bash(npm run:*)", { kind: "command" }],
    [`Bash(git commit -m "a; b")`, { kind: "command" }],
    ["Read(./secrets/**)", { kind: "path", tool: "Read" }],
    ["Edit(src/a(1).ts)", { kind: "path", tool: "Edit" }],
    ["Write({a,b}/*.ts)", { kind: "path", tool: "Write" }],
    ["WebFetch(domain:X.org.)", { kind: "domain", domain: "x.org", subdomains: false }],
    ["WebFetch(domain:*.x.org)", { kind: "domain", domain: "x.org", subdomains: true }],
    ["mcp__files", { kind: "mcp", server: "mcp__files" }],
    ["mcp__files__*", { kind: "mcp", server: undefined }],
    ["mcp__files__list", { kind: "mcp", server: undefined }],
    ["Agent(reviewer)", { kind: "subagent" }],
    ["Skill(release-*)", { kind: "skill" }],
    ["Task(reviewer)", { kind: "subagent" }],
  ])("%s is read", (text, expected) => {
    expect(parseRule(text)).toMatchObject({ ...expected, text });
  });

  test.each([
    ["", /expected a rule such as Bash/],
    ["two words", /expected a rule such as Bash/],
    ["(rm)", /expected a rule such as Bash/],
    ["Bash(rm", /expected a closing parenthesis/],
    ["Bash(rm) ", /expected a closing parenthesis/],
    ["Bash()", /expected a pattern in the parentheses, or Bash alone/],
    ["Bash(npm test && npm run build)", /contains `&`.*one rule for each command/],
    ["Bash(a; b)", /contains `;`/],
    ["Bash(a | b)", /contains `\|`/],
    ["Bash(a > b)", /contains `>`/],
    ["Bash(echo $HOME)", /contains `\$`/],
    ['Bash(echo "$(id)")', /contains `\$`/],
    ["Bash(echo 'a)", /the closing ' is missing/],
    ["Bash(CI=1 npm test)", /starts with an assignment/],
    ["Read( ./secrets)", /without a space at its start or end/],
    ["Bsh(rm *)", /Bsh takes no pattern; did you mean Bash\?/],
    ["WebSearch(x)", /WebSearch takes no pattern; write WebSearch alone/],
    ["Read(~someone/x)", /~ means your own home directory/],
    ["Read(a/*/../b)", /`\.\.` cannot follow a wildcard/],
    [`Read(${"{a,b}".repeat(7)})`, /more than 64 paths/],
    ["WebFetch(https://x.org)", /write WebFetch\(domain:example\.org\)/],
    ["WebFetch(domain:x.org/path)", /without a scheme, port or path/],
    ["WebFetch(domain:*)", /a domain is a host name/],
    ["mcp__", /expected mcp__server/],
    ["mcp__files__list(x)", /expected mcp__server/],
    [`Bash(${"a".repeat(2_000)})`, /at most 2000 characters/],
  ])("%s is refused, saying what was expected", (text, message) => {
    expect(() => parseRule(text)).toThrow(
      expect.objectContaining({ code: "invalid_agent", message: expect.stringMatching(message) }),
    );
  });

  test("that stands for everything can deny and ask, but not allow", () => {
    expect(compileRules({ allow: [], ask: ["*"], deny: ["*"] }).deny).toHaveLength(1);
    expect(() => compileRules({ allow: ["*"], ask: [], deny: [] })).toThrow(/use the mode yolo/);
  });

  test("for a tool that nobody has is told the nearest name", () => {
    const known = ["Bash", "deploy"];
    expect(unknownTool(parseRule("Bsah"), known)).toMatch(/unknown tool "Bsah".*Did you mean Bash\?/);
    expect(unknownTool(parseRule("zebra"), known)).toMatch(/Known tools: Bash, deploy/);
    for (const rule of ["bash", "Bash(ls)", "deploy", "mcp__any__thing", "*"])
      expect(unknownTool(parseRule(rule), known)).toBeUndefined();
  });

  test("may name every tool of the engine in either spelling", () => {
    for (const name of BUILTIN_NAMES) {
      expect(BUILT_IN_TOOLS).toContain(name);
      expect(parseRule(name.toLowerCase())).toMatchObject({ tool: name });
    }
  });
});
