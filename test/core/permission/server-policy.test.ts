import { describe, expect, test } from "vitest";
import { parseAgent } from "../../../src/core/agent/agent-definition.ts";
import { requirePolicyTools } from "../../../src/core/agent/mcp-tool-policy.ts";
import { decide } from "../../../src/core/permission/decide.ts";
import { parseRule } from "../../../src/core/rules/rule.ts";
import { agentRules } from "../../../src/core/permission/rule-set.ts";
import { subject } from "./subjects.ts";

const ACTS = { readOnly: false, edit: false, safeInternal: false };

interface Given {
  readonly tools: Record<string, "allow" | "ask" | "deny">;
  readonly permissions?: object;
  readonly grants?: readonly string[];
}

function decideOnServer(call: string, { tools, permissions = {}, grants = [] }: Given) {
  const agent = parseAgent({
    name: "clerk",
    model: "m",
    mcp_servers: { files: { command: "files", tools }, file: { command: "file" } },
    permissions,
  });
  const { behavior, decidedBy, reason } = decide({
    enabled: true,
    mode: agent.permissions.mode,
    rules: agentRules(agent),
    traits: ACTS,
    subject: subject(call, {}),
    sandboxed: false,
    grants: grants.map((rule, index) => ({ id: `grnt_${index}`, rule: parseRule(rule) })),
  });
  return { behavior, decidedBy, reason };
}

const tools = { delete: "deny", list: "allow", "read.all": "allow", "*": "ask" } as const;

describe("what an agent says of a server's tools", () => {
  test.each([
    ["mcp__files__delete", "deny", "rule:deny mcp_servers.files.tools.delete"],
    ["mcp__files__list", "allow", "rule:allow mcp_servers.files.tools.list"],
    // The engine's name for `read.all`.
    ["mcp__files__read_all", "allow", "rule:allow mcp_servers.files.tools.read.all"],
    ["mcp__files__move", "ask", "rule:ask mcp_servers.files.tools.*"],
    ["mcp__file__delete", "ask", "default:ask"],
    ["mcp__file__s__delete", "ask", "default:ask"],
  ])("decides about %s", (call, behavior, decidedBy) => {
    expect(decideOnServer(call, { tools })).toMatchObject({ behavior, decidedBy });
  });

  test("is told with the decision", () => {
    expect(decideOnServer("mcp__files__delete", { tools }).reason).toBe(
      "The rule mcp_servers.files.tools.delete denies this call.",
    );
  });

  test("stands beside the rules: to deny is more than to ask, and that is more than to allow", () => {
    const rules = { allow: ["mcp__files"], deny: ["mcp__files__list"] };
    expect(decideOnServer("mcp__files__list", { tools, permissions: rules })).toMatchObject({
      behavior: "deny",
      decidedBy: "rule:deny mcp__files__list",
    });
    expect(decideOnServer("mcp__files__move", { tools, permissions: rules }).behavior).toBe("ask");
    expect(decideOnServer("mcp__files__delete", { tools, permissions: { mode: "yolo" } }).behavior).toBe("deny");
    expect(
      decideOnServer("mcp__files__move", { tools: { "*": "allow" }, permissions: { ask: ["mcp__files__move"] } })
        .behavior,
    ).toBe("ask");
  });

  test("can deny all but a few", () => {
    const few = { list: "allow", "*": "deny" } as const;
    expect(decideOnServer("mcp__files__list", { tools: few }).behavior).toBe("allow");
    expect(decideOnServer("mcp__files__move", { tools: few })).toMatchObject({
      behavior: "deny",
      decidedBy: "rule:deny mcp_servers.files.tools.*",
    });
  });

  test("is answered by a grant where it asks, never where it denies", () => {
    const grants = ["mcp__files"];
    expect(decideOnServer("mcp__files__move", { tools, grants })).toMatchObject({
      behavior: "allow",
      decidedBy: "grant:grnt_0",
    });
    expect(decideOnServer("mcp__files__delete", { tools, grants }).behavior).toBe("deny");
  });

  test("must be about tools that the server has", () => {
    const listed = {
      server: "files",
      policy: { ...tools, delte: "deny" as const },
      tools: ["delete", "list", "read.all"],
    };
    expect(() => requirePolicyTools([listed])).toThrow(
      "mcp_servers.files.tools.delte: the server has no such tool; did you mean delete?",
    );
    expect(() => requirePolicyTools([{ ...listed, policy: tools }])).not.toThrow();
    const many = Array.from({ length: 500 }, (_, index) => `tool_number_${index}`);
    expect(() => requirePolicyTools([{ server: "files", policy: { x: "deny" }, tools: many }])).toThrow(
      /It has tool_number_0, .*tool_number_19 and 480 more$/,
    );
  });
});
