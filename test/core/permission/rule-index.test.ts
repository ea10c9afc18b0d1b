import * as fc from "fast-check";
import { expect, test } from "vitest";
import { prepareCall, hitBy, isCoveredBy } from "../../../src/core/permission/match-call.ts";
import { parseRule } from "../../../src/core/rules/rule.ts";
import { RuleIndex } from "../../../src/core/permission/rule-index.ts";
import { bash, subject } from "./subjects.ts";

const RULES = [
  ..."* Bash bash Edit Write Read Grep WebFetch Agent Task deploy mcp__a mcp__a__* mcp__* mcp__a__b".split(" "),
  ...["rm *", "RM x", "/bin/rm *", "r* x", "* x", "git push *", "./run.sh", "'a b' c"].map(
    (pattern) => `Bash(${pattern})`,
  ),
  ...[
    "a",
    "a/**",
    "./a",
    "*/b",
    "**/b",
    "/a/b",
    "//a/b",
    "~/a",
    "~",
    ".",
    "..",
    "../a",
    "{a,b}/c",
    "/",
    "//",
    "/**",
    "a/",
    "//nowhere/ws/a",
  ].flatMap((pattern) => [`Read(${pattern})`, `Edit(${pattern})`, `Write(${pattern})`, `Grep(${pattern})`]),
  "WebFetch(domain:x.org)",
  "WebFetch(domain:*.x.org)",
  "Agent(a)",
  "Skill(a)",
  "Task(b*)",
].map(parseRule);

const path = fc
  .tuple(
    fc.constantFrom("", "/", "~/", "../", "/nowhere/ws/", "/nowhere/home/"),
    fc.array(fc.constantFrom("a", "b", "c", ".."), { maxLength: 3 }),
  )
  .map(([start, names]) => start + names.join("/"));
const word = fc.oneof(fc.constantFrom("x", "push", "$X", "*.ts", "'a b'"), path);
const program = fc.constantFrom(
  "rm",
  "/bin/rm",
  "RM",
  "/x/Rm",
  "git",
  "./run.sh",
  "$X",
  "'a b'",
  "eval",
  "timeout 5 rm",
);
const command = fc.tuple(program, fc.array(word, { maxLength: 3 })).map(([name, words]) => [name, ...words].join(" "));
const line = fc
  .tuple(fc.array(command, { minLength: 1, maxLength: 2 }), fc.option(word), fc.option(word))
  .map(
    ([commands, write, read]) =>
      commands.join(" && ") + (write === null ? "" : ` > ${write || "a"}`) + (read === null ? "" : ` < ${read || "a"}`),
  );
const call = fc.oneof(
  line.map(bash),
  fc
    .tuple(fc.constantFrom("Read", "Edit", "Write", "NotebookEdit"), path)
    .map(([tool, file]) => subject(tool, { file_path: file })),
  path.map((root) => subject("Grep", { path: root })),
  path.map((pattern) => subject("Glob", { pattern })),
  fc.constantFrom("https://x.org", "https://a.x.org", "?").map((url) => subject("WebFetch", { url })),
  fc.constantFrom("a", "b1", undefined).map((name) => subject("Agent", { subagent_type: name })),
  fc.constantFrom("mcp__a__b", "mcp__a__b__c", "mcp__c__d", "deploy", "bash", "read").map((tool) => subject(tool)),
);

test("the index finds every rule that speaks of a call", () => {
  const index = new RuleIndex(RULES);
  fc.assert(
    fc.property(call, (about) => {
      const ready = prepareCall(about);
      const found = new Set(index.candidates(ready));
      for (const [id, rule] of RULES.entries()) {
        const speaks = hitBy(rule, ready) !== undefined || ready.parts.some((part) => isCoveredBy(rule, part, ready));
        if (speaks) expect(found.has(id), rule.text).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
});

test("what an allowing rule covers, the same rule would restrict", () => {
  fc.assert(
    fc.property(call, fc.constantFrom(...RULES), (about, rule) => {
      const ready = prepareCall(about);
      if (ready.parts.every((part) => isCoveredBy(rule, part, ready))) expect(hitBy(rule, ready)).toBeDefined();
    }),
    { numRuns: 3_000 },
  );
});
