import { describe, expect, test } from "vitest";
import { MODES } from "../../src/core/agent/agent-definition.ts";
import { bash, decideCall } from "../core/permission/subjects.ts";

/** Lines that ran a program past `Bash(ls *)` and `Bash(cat *)`, because bash parsed them differently than we did. */
const BYPASSES: readonly string[] = [
  "cat <<E\n${x:-'$(touch P)'}\nE",
  "ls <(ls)#x; touch P",
  "ls \"${x:-$'$(touch P)'}\"",
  "ls {y['$(touch P)']}</dev/null",
  "x='a[$(touch P)]'; ls {y[x]}</dev/null",
];

describe("a line that bash may parse differently", () => {
  test.each(BYPASSES)("is not allowed by rules or grants: %j", (line) => {
    const rules = ["Bash(ls *)", "Bash(cat *)"];
    for (const mode of MODES) {
      expect(decideCall(bash(line), { allow: rules, mode, deny: ["Bash(touch *)"] }).behavior).not.toBe("allow");
      if (mode !== "yolo")
        expect(decideCall(bash(line), { allow: rules, grants: rules, mode }).behavior).not.toBe("allow");
    }
    expect(
      decideCall(bash(line), { allow: rules, deny: ["Bash(touch *)"], query: { sandboxed: true } }).behavior,
    ).not.toBe("allow");
  });
});
