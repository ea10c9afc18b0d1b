import { expect, test } from "vitest";
import { noticeOf } from "../../src/cli/follow/notices.ts";
import { example } from "../support/event-examples.ts";

test("configuration that a turn changed is a warning, with what was disabled and what could not be", () => {
  const event = example("capstan.configuration_changed", {
    changed: [{ path: "sub/.git", read_by: "git" }],
    disabled: [{ path: "sub/.git", moved_to: "sub/.git.disabled-by-capstan" }],
    problem: "x\u202E could not be disabled.",
  });
  const notice = noticeOf({ ...event, seq: 1 });
  expect(notice).toMatch(/^WARNING: This turn changed configuration: sub\/\.git \(read by git\)\./);
  expect(notice).toContain("sub/.git was disabled and is now sub/.git.disabled-by-capstan.");
  expect(notice).toContain("x\\u{202e} could not be disabled.");
});
