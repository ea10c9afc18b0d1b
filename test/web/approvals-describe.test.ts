import { describe, expect, test } from "vitest";
import type { WireApproval } from "../../src/client/index.ts";
import { factsOf, outcomeOf, programsOf, readInput, toolOf, traitsOf } from "../../web/src/approvals/card/describe.ts";
import { around, besides, byAnswer, follower, newSince, shownIn } from "../../web/src/approvals/inbox.ts";
import { isSeen, noticesOf } from "../../web/src/approvals/notify/notices.ts";

function approval(id: string, request: Partial<WireApproval["request"]> = {}): WireApproval {
  return {
    id,
    session_id: "sesn_1",
    project: "p",
    agent: "helper",
    status: "pending",
    request: {
      type: "capstan.approval_requested",
      id: "sevt_1",
      processed_at: "2026-01-01T00:00:00.000Z",
      approval_id: id,
      kind: "tool",
      call_id: "c",
      tool_use_id: "t",
      tool: "Bash",
      input: {},
      title: "Run it",
      asked_by: "default:ask",
      reason: "",
      traits: { readOnly: false, edit: false, safeInternal: false },
      remember: [],
      expires_at: null,
      ...request,
    },
    created_at: "2026-01-01T00:00:00.000Z",
    expires_at: null,
    answer: null,
  };
}
const factsFor = (request: Partial<WireApproval["request"]>): readonly string[] =>
  factsOf(approval("a", request).request).map(({ name, text }) => `${name}: ${text}`);

describe("what would happen", () => {
  test("shows every part of the input that no other part of the card shows", () => {
    const input = { command: "ls", timeout: 5, dangerouslyDisableSandbox: true };
    expect(factsFor({ input })).toEqual(["Tool: Bash", "timeout: 5", "dangerouslyDisableSandbox: true"]);
    const write = { file_path: "/a.txt", content: "secret" };
    expect(factsFor({ tool: "Write", input: write, diff: "+secret" })).toEqual(["Tool: Write", "File: /a.txt"]);
    // A change that leaves something out does not tell all.
    for (const diff of ["+[redacted:key]", "+se\n… (cut: the whole change is in the input)"])
      expect(factsFor({ tool: "Write", input: write, diff })).toContain("content: secret");
  });

  test("tells where a call goes", () => {
    expect(factsFor({ tool: "WebFetch", input: { url: "https://exаmple.com/a", prompt: "p" } })).toEqual([
      "Tool: WebFetch",
      "Address: https://exаmple.com/a",
      "Domain: xn--exmple-4nf.com",
      "prompt: p",
    ]);
    expect(factsFor({ tool: "mcp__office__book" })).toEqual(["MCP server: office", "Tool: book"]);
    expect(toolOf("mcp__capstan__lookup")).toEqual({ name: "lookup" });
    expect(traitsOf(approval("a", { tool: "mcp__office__book" }).request)).toEqual(["runs on an MCP server"]);
  });

  test("writes out what hides itself", () => {
    expect(programsOf(approval("a", { commands: ["rm \u202Ecod"], input: { command: "x" } }).request)).toEqual([
      "rm \\u{202e}cod",
    ]);
    expect(programsOf(approval("a", { commands: ["ls"], input: { command: "ls" } }).request)).toEqual([]);
  });

  test("an edited input must be an object", () => {
    expect(readInput('{"a":1}')).toEqual({ a: 1 });
    expect(readInput("[1]")).toMatch(/must be a JSON object/);
    expect(readInput("{")).toMatch(/not valid JSON/);
  });
});

describe("what became of it", () => {
  const at = { isListed: false, now: Date.parse("2026-01-01T01:00:00Z") };
  const late = { ...approval("a"), expires_at: "2026-01-01T00:30:00.000Z" };
  test("a clock that is wrong expires nothing that can still be answered", () => {
    expect(outcomeOf(late, { ...at, isListed: true })).toBe("pending");
    expect(outcomeOf(late, at)).toBe("expired");
    expect(outcomeOf({ ...approval("a"), status: "settled" }, at)).toBe("ended");
    const answer = { behavior: "deny" as const, by: "b", from: "api", at: "2026-01-01T00:00:01.000Z" };
    expect(outcomeOf({ ...late, status: "answered", answer }, at)).toBe("denied");
    const newer = { ...approval("b"), answer: { ...answer, at: "2026-01-01T00:00:02.000Z" } };
    expect(byAnswer([{ ...late, answer }, newer]).map(({ id }) => id)).toEqual(["b", "a"]);
  });
});

const waits =
  (...ids: string[]) =>
  (id: string): boolean =>
    ids.includes(id);

describe("the inbox", () => {
  const [a, b, c] = [approval("a"), approval("b"), approval("c")];
  test("keeps what was answered in its place until it is dismissed", () => {
    const first = shownIn([], [a, b], new Set());
    const next = shownIn(first, [b, c], new Set());
    expect(next).toEqual([a, b, c]);
    expect(shownIn(next, [b, c], new Set())).toBe(next);
    // What waits cannot be dismissed.
    expect(shownIn(next, [b, c], new Set(["a", "b"]))).toEqual([b, c]);
  });

  test("moves up and down, and not beyond the ends", () => {
    expect(besides(["a", "b"], undefined, 1)).toBe("a");
    expect(besides(["a", "b"], "a", 1)).toBe("b");
    expect(besides(["a", "b"], "b", 1)).toBe("b");
    expect(besides([], "a", -1)).toBeUndefined();
  });

  test("goes on with the next that waits, and around the ends", () => {
    expect(follower([], undefined, ["a", "b"], waits("b"))).toBe("b");
    expect(follower(["a", "b", "c"], "b", ["a", "c"], waits("a", "c"))).toBe("c");
    // What is answered already comes last.
    expect(follower(["a", "b", "c"], "b", ["a", "c"], waits("a"))).toBe("a");
    expect(follower(["a", "b"], "b", ["a"], waits())).toBe("a");
    expect(follower(["a"], "a", [], waits())).toBeUndefined();
    expect(around(["a", "b"], "b", 1)).toBe("a");
    expect(around(["a", "b"], "a", -1)).toBe("b");
  });

  test("notifies of nothing that was there at the start, and of many in one", () => {
    expect(newSince(undefined, [a, b])).toEqual([]);
    expect(newSince(new Set(["a"]), [a, b])).toEqual([b]);
    expect(noticesOf([a])).toEqual([
      { title: "Approval needed", body: "helper: Run it", tag: "a", path: "/approvals?open=a" },
    ]);
    expect(noticesOf([a, b, c, approval("d")])).toMatchObject([{ title: "4 approvals needed", path: "/approvals" }]);
    expect(isSeen(a, { path: "/sessions/sesn_1", hasFocus: true })).toBe(true);
    expect(isSeen(a, { path: "/sessions/sesn_1", hasFocus: false })).toBe(false);
    expect(isSeen(a, { path: "/costs", hasFocus: true })).toBe(false);
  });
});
