import { describe, expect, test } from "vitest";
import { type Mode, MODES, type Permissions } from "../../src/core/agent-definition.ts";
import { decide, type PermissionVerdict, type ToolTraits } from "../../src/core/permission.ts";

const CHANGES: ToolTraits = { readOnly: false, edit: false, safeInternal: false, inside: true };
const READS: ToolTraits = { ...CHANGES, readOnly: true };
const EDITS: ToolTraits = { ...CHANGES, edit: true };
const SAFE: ToolTraits = { ...CHANGES, safeInternal: true };

type Lists = Partial<Pick<Permissions, "allow" | "ask" | "deny">>;
const rulesOf = (mode: Mode, lists: Lists): Permissions => ({ mode, allow: [], ask: [], deny: [], ...lists });
const named = ["Tool"];
const everywhere: Lists = { allow: named, ask: named, deny: named };

describe("a tool call", () => {
  test.each<[string, Mode, ToolTraits, Lists, PermissionVerdict["behavior"], string]>([
    ["a deny rule comes first", "yolo", SAFE, everywhere, "deny", "rule:deny Tool"],
    [
      "read-only mode denies what changes, whatever is allowed",
      "read-only",
      CHANGES,
      { allow: named },
      "deny",
      "mode:read-only",
    ],
    [
      "read-only mode denies what changes, before a rule asks",
      "read-only",
      CHANGES,
      { ask: named },
      "deny",
      "mode:read-only",
    ],
    ["plan mode denies what changes", "plan", EDITS, { allow: named }, "deny", "mode:plan"],
    ["read-only mode denies a safe tool that changes something", "read-only", SAFE, {}, "deny", "mode:read-only"],
    ["plan mode lets a reading tool pass", "plan", READS, {}, "allow", "tool:read-only"],
    ["an ask rule comes before an allow rule", "normal", READS, { ask: named, allow: named }, "ask", "rule:ask Tool"],
    ["an ask rule holds for a safe tool", "normal", SAFE, { ask: named }, "ask", "rule:ask Tool"],
    ["an ask rule holds in yolo mode", "yolo", CHANGES, { ask: named }, "ask", "rule:ask Tool"],
    ["an ask rule holds for accepted edits", "accept-edits", EDITS, { ask: named }, "ask", "rule:ask Tool"],
    ["an allow rule allows what changes", "normal", CHANGES, { allow: named }, "allow", "rule:allow Tool"],
    [
      "an allow rule is named rather than the tool's safety",
      "normal",
      SAFE,
      { allow: named },
      "allow",
      "rule:allow Tool",
    ],
    ["a safe tool runs", "normal", SAFE, {}, "allow", "tool:safe-internal"],
    ["accepted edits run", "accept-edits", EDITS, {}, "allow", "mode:accept-edits"],
    ["accept-edits mode asks for what else changes", "accept-edits", CHANGES, {}, "ask", "default:ask"],
    ["an edit asks in normal mode", "normal", EDITS, {}, "ask", "default:ask"],
    ["yolo mode runs what changes", "yolo", CHANGES, {}, "allow", "mode:yolo"],
    ["a reading tool runs", "normal", READS, {}, "allow", "tool:read-only"],
    ["anything else asks", "normal", CHANGES, {}, "ask", "default:ask"],
    [
      "a rule for another tool says nothing",
      "normal",
      CHANGES,
      { allow: ["Tool2"], deny: ["Too"] },
      "ask",
      "default:ask",
    ],
  ])("%s", (_what, mode, traits, lists, behavior, decidedBy) => {
    expect(decide({ tool: "Tool", mode, rules: rulesOf(mode, lists), traits })).toMatchObject({ behavior, decidedBy });
  });

  const everyTrait = [CHANGES, READS, EDITS, SAFE];
  test.each(MODES)("that a rule denies is denied in %s mode, whatever the tool is", (mode) => {
    for (const traits of everyTrait)
      expect(decide({ tool: "Tool", mode, rules: rulesOf(mode, everywhere), traits }).behavior).toBe("deny");
  });

  test("is decided by the session's mode and not by the one its agent began with", () => {
    const rules = rulesOf("yolo", {});
    expect(decide({ tool: "Tool", mode: "normal", rules, traits: CHANGES }).behavior).toBe("ask");
  });

  test("has a reason that names the tool", () => {
    const verdict = decide({ tool: "Bash", mode: "plan", rules: rulesOf("plan", {}), traits: CHANGES });
    expect(verdict.reason).toBe("Bash may change something, and the session is in plan mode.");
  });
});
