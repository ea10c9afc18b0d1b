import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { suggestRules } from "../../../src/core/permission/suggest.ts";
import type { CallSubject } from "../../../src/core/rules/subject.ts";
import { bash, decideCall, subject } from "./subjects.ts";

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

describe("the rules that an answer would be remembered as", () => {
  test.each<[CallSubject, string[]]>([
    [bash("npm test"), ["Bash(npm test)"]],
    [bash("git commit -m 'a *'"), ["Bash(git commit -m 'a *')"]],
    [bash("ls && npm test"), ["Bash(ls)", "Bash(npm test)"]],
    [bash("timeout 5 npm test"), ["Bash(npm test)"]],
    [bash("echo a > b"), ["Bash(echo a)", "Edit(./b)"]],
    [bash("ls < in"), ["Bash(ls)"]],
    [bash("ls < /etc/x"), ["Bash(ls)", "Read(//etc/x)"]],
    [bash("ls $X"), []],
    [bash("eval $X"), []],
    [bash("FOO=1 ls"), []],
    [bash("echo a > $X"), []],
    [subject("Edit", { file_path: "src/a.ts" }), ["Edit(src/a.ts)"]],
    [subject("Write", { file_path: "a.ts" }), ["Edit(./a.ts)"]],
    [subject("Edit", { file_path: "src/[id]/{a}.ts" }), [String.raw`Edit(src/\[id\]/\{a\}.ts)`]],
    [subject("Read", { file_path: "/etc/x" }), ["Read(//etc/x)"]],
    [subject("Read", { file_path: "~/x" }), ["Read(~/x)"]],
    [subject("Read"), []],
    [subject("Grep", { path: "../lib" }), ["Grep(//nowhere/lib)"]],
    [subject("Grep", {}), ["Grep(.)"]],
    [subject("WebFetch", { url: "https://x.org/a" }), ["WebFetch(domain:x.org)"]],
    [subject("WebFetch", { url: "nonsense" }), []],
    [subject("mcp__files__list"), ["mcp__files__list"]],
    [subject("Agent", { subagent_type: "reviewer" }), ["Agent(reviewer)"]],
    [subject("Skill", { skill: "agent:release" }), ["Skill(release)"]],
    [subject("deploy"), ["deploy"]],
    // Would be taken for the built-in tool.
    [subject("read"), []],
    [subject("AskUserQuestion"), []],
  ])("of a call", (about, rules) => {
    expect(suggestRules(about)).toEqual(rules);
  });

  const text = fc.oneof(
    fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }),
    fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(..."ab*?[]{},\\'\"()~:=-./ $;".split("")) }),
  );
  const command = fc
    .array(text, { minLength: 1, maxLength: 3 })
    .map((words) => `prog ${words.map(quoteWord).join(" ")}`);
  const call = fc.oneof(
    fc.array(command, { minLength: 1, maxLength: 3 }).map((all) => bash(all.join(" && "))),
    fc.tuple(command, text).map(([line, file]) => bash(`${line} > ${quoteWord(file)}`)),
    fc.tuple(fc.constantFrom("Edit", "Write", "Read"), text).map(([tool, path]) => subject(tool, { file_path: path })),
    text.map((path) => subject("Grep", { path })),
    text.map((name) => subject("Agent", { subagent_type: name })),
    fc.webUrl().map((url) => subject("WebFetch", { url })),
  );
  const nothing = { query: { traits: { readOnly: false, edit: false, safeInternal: false } } };

  test("allow this very call again", () => {
    fc.assert(
      fc.property(call, (about) => {
        fc.pre(about.refused === undefined);
        const grants = suggestRules(about);
        const asked = decideCall(about, nothing);
        expect(asked).toMatchObject({ behavior: "ask", rememberable: grants.length > 0 });
        if (grants.length > 0) expect(decideCall(about, { ...nothing, grants }).behavior).toBe("allow");
      }),
      { numRuns: 2_000 },
    );
  });

  test("allow no other command", () => {
    fc.assert(
      fc.property(command, command, (one, other) => {
        const [first, second] = [bash(one), bash(other)];
        const grants = suggestRules(first);
        fc.pre(grants.length > 0 && JSON.stringify(first.shell?.commands) !== JSON.stringify(second.shell?.commands));
        expect(decideCall(second, { grants }).behavior).toBe("ask");
      }),
      { numRuns: 1_000 },
    );
  });

  test("allow no other file, but what would lie below it", () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [first, second] = [subject("Edit", { file_path: one }), subject("Edit", { file_path: other })];
        fc.pre(second.refused === undefined);
        const [a, b] = [first.paths[0]?.real ?? "", second.paths[0]?.real ?? ""];
        const grants = suggestRules(first);
        fc.pre(grants.length > 0 && a !== b && !b.startsWith(a === "/" ? a : `${a}/`));
        expect(decideCall(second, { grants }).behavior).toBe("ask");
      }),
      { numRuns: 1_000 },
    );
  });
});
