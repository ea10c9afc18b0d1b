import { createTwoFilesPatch } from "diff";
import { expect, test } from "vitest";
import type { WireApproval } from "../../src/client/index.ts";
import {
  changeOf,
  MAX_CHARACTERS,
  MAX_LINES,
  planOf,
  showPlan,
  unseenIn,
} from "../../web/src/approvals/card/change.ts";

const patch = (before: string, after: string): string => createTwoFilesPatch("a.txt", "a.txt", before, after, "", "");
const request = (
  input: Record<string, unknown>,
  more: Partial<WireApproval["request"]> = {},
): WireApproval["request"] => ({ kind: "tool", tool: "Bash", input, ...more }) as WireApproval["request"];
const plan = (text: unknown): WireApproval["request"] =>
  request({ plan: text }, { kind: "plan", tool: "ExitPlanMode" });

function linesOf(before: string, after: string): { note: string | undefined; lines: string[] } {
  const [shown] = changeOf(patch(before, after))?.files ?? [];
  return { note: shown?.note, lines: shown?.file.lines.map(({ kind, text }) => `${kind}${text}`) ?? [] };
}

test("what ends every line is said once", () => {
  expect(linesOf("one\r\ntwo\r\n", "one\r\nthree\r\n")).toEqual({
    note: "Windows line endings",
    lines: [" one", "-two", "+three"],
  });
  expect(linesOf("one\ntwo\n", "one\ntwo\nthree\r\n")).toEqual({
    note: "Windows line endings in added lines",
    lines: [" one", " two", "+three"],
  });
  expect(linesOf("one\r\ntwo\r\n", "one\ntwo\n").note).toBe("Windows line endings in removed lines");
  expect(linesOf("one\ntwo\n", "one\nthree\n").note).toBeUndefined();
});

test("where only some lines have a carriage return, each of them says so", () => {
  expect(linesOf("", "one\r\ntwo\nthr\ree\n")).toEqual({
    note: undefined,
    lines: ["+one\\u{d}", "+two", "+thr\\u{d}ee"],
  });
  // One at the very end of a file ends no line.
  expect(linesOf("", "one\r\ntwo\r")).toEqual({ note: "Windows line endings", lines: ["+one", "+two\\u{d}"] });
});

test("a change of nothing but the last line end is told apart", () => {
  const lines = changeOf(patch("one\n", "one"))?.files[0]?.file.lines;
  expect(lines).toMatchObject([
    { kind: "-", text: "one" },
    { kind: "+", text: "one", isUnended: true },
  ]);
});

test("characters that hide themselves are written out, in names and in lines", () => {
  const diff = createTwoFilesPatch("a\u202Etxt", "a\u202Etxt", "", "b\u200Bc\n", "", "");
  const [shown] = changeOf(diff)?.files ?? [];
  expect(shown?.file.path).toBe("a\\u{202e}txt");
  expect(shown?.file.lines[0]?.text).toBe("b\\u{200b}c");
  expect(changeOf("no\u202Ediff")).toEqual({ files: [], text: "no\\u{202e}diff" });
});

test("what is not shown yet is counted", () => {
  const long = Array.from({ length: MAX_LINES + 50 }, (_, index) => `${index}\n`).join("");
  const change = changeOf(patch("", long));
  const write = request({ file_path: "/a.txt", content: long }, { tool: "Write", diff: patch("", long) });
  expect(unseenIn(write, change)).toBe("50 more lines not shown");
  expect(unseenIn(request({ command: "x".repeat(MAX_CHARACTERS + 1) }), undefined)).toBe("1 more character not shown");
  expect(unseenIn(request({ command: "ls", note: "x".repeat(MAX_CHARACTERS + 1_500) }), change)).toBe(
    "50 more lines and 1,500 more characters not shown",
  );
  expect(unseenIn(request({ command: "ls" }), undefined)).toBeUndefined();
});

test("a plan that is laid out is there as a whole, and one that cannot be is counted like any text", () => {
  expect(unseenIn(plan("so on\n".repeat(9_000)), undefined)).toBeUndefined();
  const deep = `${">".repeat(100)} deep\n`;
  expect(unseenIn(plan(deep), undefined)).toBeUndefined();
  expect(unseenIn(plan(deep.padEnd(MAX_CHARACTERS + 20, "x")), undefined)).toBe("20 more characters not shown");
  // One that is no text is shown as it is, like any input.
  expect(planOf(plan(["step"]))).toBeUndefined();
  expect(unseenIn(plan(["x".repeat(MAX_CHARACTERS)]), undefined)).toMatch(/more characters not shown/);
});

test("in a plan, what ends a line on Windows is nothing that hides", () => {
  expect(showPlan("one\r\ntwo\rthree\u202E")).toBe("one\ntwo\\u{d}three\\u{202e}");
});
