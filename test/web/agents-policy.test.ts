import { expect, test } from "vitest";
import type { WireReplayLine } from "../../src/protocol/api/policy.ts";
import { changesIn, problemsByList, rulesOf } from "../../web/src/policy/replay-changes.ts";
import { describeSubject } from "../../web/src/policy/describe-subject.ts";

const around = { paths: [], inside: true, workspace: "/project", home: "/home/me" };

const place = (path: string) => ({ named: path, real: path });

const line = (before: WireReplayLine["before"], now: WireReplayLine["now"]): WireReplayLine => ({
  session_id: "s",
  event_id: "e",
  at: "",
  tool: "Bash",
  about: "",
  before,
  now,
  changed: before !== now,
  decided_by_before: "",
  decided_by: "",
  reason: "",
});

test("what was understood of a call is told in people's words", () => {
  const told = describeSubject({
    ...around,
    tool: "Bash",
    shell: {
      commands: [
        { words: [{ text: "sudo", dynamic: false }], assignments: ["CI=1"], via: [] },
        {
          words: [
            { text: "rm", dynamic: false },
            { text: "$X", dynamic: true },
          ],
          assignments: [],
          via: ["sudo"],
        },
      ],
      writes: [
        { text: "out.txt", places: [place("/project/out.txt")] },
        { text: "$Y", places: [] },
      ],
      reads: [],
      mentions: [
        place("/project/a"),
        place("/project/a"),
        { named: "/project/link", real: "/home/me/there" },
        place("/etc/x"),
      ],
      unclear: ["It has a heredoc."],
    },
  });
  expect(told).toEqual([
    { what: "Runs", items: ["CI=1 sudo", "rm $X (a word is only known when it runs) (run by sudo)"] },
    { what: "Writes with >", items: ["out.txt", "$Y (known when it runs)"] },
    { what: "Mentions these paths", items: ["./a", "./link → ~/there", "/etc/x"] },
    { what: "Not fully understood", items: ["It has a heredoc."] },
  ]);
  const search = { ...around, tool: "Grep", search: true, paths: [{ ...place("/project"), access: "read" as const }] };
  expect(describeSubject(search)).toEqual([{ what: "Searches under", items: ["."] }]);
  expect(describeSubject({ ...around, tool: "TodoWrite" })).toEqual([]);
});

test("changes are counted by what becomes of what", () => {
  expect(
    changesIn([line("ask", "deny"), line("allow", "allow"), line("allow", "deny"), line("allow", "deny")]),
  ).toEqual([
    { before: "allow", now: "deny", count: 2 },
    { before: "ask", now: "deny", count: 1 },
  ]);
  expect(changesIn([])).toEqual([]);
});

test("rules are read one to a line, and what is wrong is told at its list", () => {
  expect(rulesOf({ mode: "", allow: " Read \n\nBash(ls)\r\n", ask: "", deny: "" })).toEqual({
    allow: ["Read", "Bash(ls)"],
    ask: [],
    deny: [],
  });
  expect(rulesOf({ mode: "yolo", allow: "", ask: "", deny: "" })).toMatchObject({ mode: "yolo" });
  expect(
    problemsByList([
      "permissions.deny.1: is no rule",
      "permissions.deny.2: nor this",
      "permissions.ask: Bsh?",
      "other: x",
    ]),
  ).toEqual({ deny: "rule 2: is no rule · rule 3: nor this", ask: "Bsh?" });
});
