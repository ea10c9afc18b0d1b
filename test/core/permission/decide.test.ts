import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MODES } from "../../../src/core/agent/agent-definition.ts";
import { decide, STEPS, type PermissionVerdict } from "../../../src/core/permission/decide.ts";
import { compileRules } from "../../../src/core/permission/rule-set.ts";
import { bash, decideCall, type Situation, subject, TRAITS } from "./subjects.ts";

const edit = (path: string) => subject("Edit", { file_path: path });
const read = (path: string) => subject("Read", { file_path: path });
const fetch = (url: string) => subject("WebFetch", { url });

type Row = [
  what: string,
  about: ReturnType<typeof subject>,
  Situation,
  PermissionVerdict["behavior"],
  decidedBy: string,
];

describe("the order of the checks", () => {
  const everywhere: Situation = { allow: ["Bash"], ask: ["Bash"], deny: ["Bash"], grants: ["Bash"] };
  test.each<Row>([
    ["1 a tool that is not enabled", bash("ls"), { ...everywhere, query: { enabled: false } }, "deny", "agent:tools"],
    ["2 a deny rule", bash("ls"), { ...everywhere, mode: "yolo" }, "deny", "rule:deny Bash"],
    ["4 read-only mode", bash("ls"), { allow: ["Bash"], ask: ["Bash"], mode: "read-only" }, "deny", "mode:read-only"],
    ["4 plan mode", edit("a"), { allow: ["Edit"], mode: "plan" }, "deny", "mode:plan"],
    ["5 a protected path", edit(".capstan/x"), { allow: ["Edit"], mode: "yolo" }, "ask", "protected:**/.capstan/"],
    ["6 an ask rule", bash("ls"), { allow: ["Bash"], ask: ["Bash"], mode: "yolo" }, "ask", "rule:ask Bash"],
    ["7 an allow rule", bash("ls"), { allow: ["Bash(ls *)"] }, "allow", "rule:allow Bash(ls *)"],
    ["8 a safe tool", subject("Agent", { subagent_type: "x" }), { mode: "plan" }, "allow", "tool:safe-internal"],
    ["9 an edit in accept-edits mode", edit("a"), { mode: "accept-edits" }, "allow", "mode:accept-edits"],
    ["9 not outside of the workspace", edit("/etc/a"), { mode: "accept-edits" }, "ask", "default:ask"],
    ["10 the sandbox", bash("ls"), { query: { sandboxed: true } }, "allow", "sandbox:auto-allow"],
    ["10 for commands alone", edit("a"), { query: { sandboxed: true } }, "ask", "default:ask"],
    ["11 yolo mode", bash("ls"), { mode: "yolo" }, "allow", "mode:yolo"],
    ["12 reading in the workspace", read("a"), {}, "allow", "tool:read-only"],
    ["12 not outside of it", read("/etc/passwd"), {}, "ask", "default:ask"],
    ["12 in read-only mode, too", read("a"), { mode: "read-only" }, "allow", "tool:read-only"],
    ["12 what is the session's own", read("/own/a"), { query: { readable: ["/own"] } }, "allow", "tool:read-only"],
    ["12 not beside it", read("/owned/a"), { query: { readable: ["/own"] } }, "ask", "default:ask"],
    ["13 otherwise", bash("ls"), {}, "ask", "default:ask"],
  ])("%s", (_what, about, situation, behavior, decidedBy) => {
    expect(decideCall(about, situation)).toMatchObject({ behavior, decidedBy });
  });

  test("tells each step that did not decide", () => {
    const told: string[] = [];
    const rules = compileRules({ allow: [], ask: [], deny: [] });
    const about = bash("ls");
    const traits = TRAITS["Edit"] ?? { readOnly: false, edit: true, safeInternal: false };
    decide({ enabled: true, mode: "normal", rules, traits, subject: about, sandboxed: false, grants: [] }, (why) =>
      told.push(why),
    );
    expect(told).toHaveLength(STEPS.length - 1);
  });
});

describe("a skill", () => {
  test.each(["greet", "agent:greet", " /agent:Greet "])("is denied by its name, however it is called: %s", (skill) => {
    const deny = { deny: ["Skill(gre*)"] };
    expect(decideCall(subject("Skill", { skill }), deny)).toMatchObject({ behavior: "deny" });
    expect(decideCall(subject("Skill", { skill: "agent:other" }), deny)).not.toMatchObject({ behavior: "deny" });
  });

  test("that a call does not name is asked about, as it may be the denied one", () => {
    expect(decideCall(subject("Skill", {}), { deny: ["Skill(gre*)"] })).toMatchObject({ behavior: "ask" });
  });
});

describe("a person", () => {
  test.each(MODES)("is asked about a plan and a question in %s mode, and nothing remembers the answer", (mode) => {
    for (const [tool, kind] of [
      ["ExitPlanMode", "plan"],
      ["AskUserQuestion", "question"],
    ] as const) {
      const situation: Situation = { mode, allow: [tool], grants: [tool] };
      expect(decideCall(subject(tool), situation)).toMatchObject({ behavior: "ask", kind, rememberable: false });
      expect(decideCall(subject(tool), { mode, deny: [tool] }).behavior).toBe("deny");
    }
  });
});

describe("a custom tool", () => {
  const lookup = subject("lookup", { key: "a" });
  const custom = { readOnly: false, edit: false, safeInternal: false, custom: true };
  const about = (situation: Situation) => decideCall(lookup, { ...situation, query: { traits: custom } });

  test.each(MODES)("in %s mode is denied or waits for its client, whatever rules and grants say", (mode) => {
    const behavior = mode === "read-only" || mode === "plan" ? "deny" : "ask";
    for (const situation of [{}, { allow: ["lookup"] }, { ask: ["lookup"] }, { grants: ["lookup"] }]) {
      const verdict = about({ ...situation, mode });
      expect(verdict).toMatchObject({ behavior, rememberable: false });
      if (behavior === "ask") expect(verdict).toMatchObject({ kind: "custom_tool", decidedBy: "tool:lookup" });
    }
    expect(about({ mode, deny: ["lookup"] })).toMatchObject({ behavior: "deny", decidedBy: "rule:deny lookup" });
  });

  test("is denied to a subagent that does not have it", () => {
    expect(decideCall(lookup, { query: { traits: custom, enabled: false } }).behavior).toBe("deny");
  });
});

describe("a grant", () => {
  test.each<Row>([
    ["answers what nobody spoke of", bash("npm test"), { grants: ["Bash(npm test)"] }, "allow", "grant:0"],
    [
      "answers an ask rule",
      bash("git push"),
      { ask: ["Bash(git push *)"], grants: ["Bash(git push)"] },
      "allow",
      "grant:0",
    ],
    [
      "does not answer a deny rule",
      bash("git push"),
      { deny: ["Bash(git push *)"], grants: ["Bash"] },
      "deny",
      "rule:deny Bash(git push *)",
    ],
    ["does not answer a mode", bash("ls"), { mode: "plan", grants: ["Bash"] }, "deny", "mode:plan"],
    [
      "does not answer a rule that may be a deny rule's",
      bash("rm $X"),
      { deny: ["Bash(rm -rf *)"], grants: ["Bash(rm *)", "Bash"] },
      "ask",
      "rule:deny Bash(rm -rf *)",
    ],
    [
      "does not answer an ask rule that forbids to remember",
      bash("git push"),
      { ask: ["Bash(git *)", { rule: "Bash(git push *)", remember: false }], grants: ["Bash"] },
      "ask",
      "rule:ask Bash(git push *)",
    ],
    [
      "together with rules",
      bash("ls && npm test"),
      { allow: ["Bash(ls *)"], grants: ["Bash(npm test)"] },
      "allow",
      "grant:0",
    ],
    [
      "must speak of what is asked about, which an allow rule cannot",
      bash("ls && git push"),
      { ask: ["Bash(git push *)"], allow: ["Bash(git push *)"], grants: ["Bash(ls *)"] },
      "ask",
      "rule:ask Bash(git push *)",
    ],
    [
      "answers for its part, and the mode for the rest",
      bash("ls && git push"),
      { mode: "yolo", ask: ["Bash(git push *)"], grants: ["Bash(git push)"] },
      "allow",
      "grant:0",
    ],
    [
      "answers for its part, and the rest is asked about",
      bash("ls && git push"),
      { ask: ["Bash(git push *)"], grants: ["Bash(git push)"] },
      "ask",
      "default:ask",
    ],
    [
      "with a pattern says nothing of what is not understood",
      bash("eval $X"),
      { grants: ["Bash(eval *)"] },
      "ask",
      "default:ask",
    ],
    ["for the whole tool does", bash("eval $X"), { grants: ["Bash"] }, "allow", "grant:0"],
  ])("%s", (_what, about, situation, behavior, decidedBy) => {
    expect(decideCall(about, situation)).toMatchObject({ behavior, decidedBy });
  });

  test("can be made of an answer, unless a rule forbids it or nothing narrow can be said", () => {
    expect(decideCall(bash("git push"), { ask: ["Bash(git push *)"] }).rememberable).toBe(true);
    const ask = [{ rule: "Bash(git push *)", remember: false }];
    expect(decideCall(bash("git push"), { ask }).rememberable).toBe(false);
    expect(decideCall(bash("rm $X")).rememberable).toBe(false);
    expect(decideCall(bash("eval x")).rememberable).toBe(true);
    expect(decideCall(bash("ls"), { allow: ["Bash"] }).rememberable).toBe(false);
  });
});

describe("whatever else holds", () => {
  const mode = fc.constantFrom(...MODES);
  const rules = fc.subarray([
    "Bash",
    "Bash(ls *)",
    "Bash(rm *)",
    "Edit",
    "Edit(src/**)",
    "Read",
    "Read(.env)",
    "WebFetch",
    "mcp__a",
  ]);
  const traits = fc.record({ readOnly: fc.boolean(), edit: fc.boolean(), safeInternal: fc.boolean() });
  const calls = [
    bash("ls"),
    bash("rm a"),
    bash("eval $X"),
    bash("ls > src/a"),
    edit("src/a"),
    read(".env"),
    fetch("https://x.org"),
    subject("mcp__a__b"),
  ];
  const world = fc.record({ mode, allow: rules, ask: rules, grants: rules, traits, sandboxed: fc.boolean() });
  const about = fc.constantFrom(...calls);

  test("a deny rule for the tool denies", () => {
    fc.assert(
      fc.property(world, about, ({ traits: has, sandboxed, ...situation }, call) => {
        const deny = [call.tool];
        expect(decideCall(call, { ...situation, deny, query: { traits: has, sandboxed } }).behavior).toBe("deny");
      }),
    );
  });

  test("an ask rule that forbids to remember is never allowed without a person", () => {
    fc.assert(
      fc.property(world, about, ({ traits: has, sandboxed, ask, ...situation }, call) => {
        const forbidding = [...ask, { rule: call.tool, remember: false }];
        const verdict = decideCall(call, { ...situation, ask: forbidding, query: { traits: has, sandboxed } });
        expect(verdict.behavior).not.toBe("allow");
        expect(verdict.rememberable).toBe(false);
      }),
    );
  });

  test("more deny or ask rules never allow more, and more allow rules and grants never deny more", () => {
    const rank = { allow: 0, ask: 1, deny: 2 };
    fc.assert(
      fc.property(world, rules, about, ({ traits: has, sandboxed, ...situation }, deny, call) => {
        const query = { traits: has, sandboxed };
        const all = rank[decideCall(call, { ...situation, deny, query }).behavior];
        expect(rank[decideCall(call, { ...situation, deny: [], query }).behavior]).toBeLessThanOrEqual(all);
        expect(rank[decideCall(call, { ...situation, deny, ask: [], query }).behavior]).toBeLessThanOrEqual(all);
        expect(rank[decideCall(call, { ...situation, deny, allow: [], query }).behavior]).toBeGreaterThanOrEqual(all);
        expect(rank[decideCall(call, { ...situation, deny, grants: [], query }).behavior]).toBeGreaterThanOrEqual(all);
      }),
      { numRuns: 500 },
    );
  });
});
