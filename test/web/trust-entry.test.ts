import { expect, test } from "vitest";
import type { WireTrust } from "../../src/client/index.ts";
import {
  effectOf,
  hintOf,
  isRecorded,
  shownPath,
  shownWidening,
  trustStateOf,
} from "../../web/src/trust/entry-facts.ts";

const MODE = {
  field: "permissions.mode",
  text: 'permissions.mode: yolo (now "normal") — lets more tool calls run without asking',
  required: false,
};
const AT = "2026-01-01T00:00:00.000Z";

function entry(given: Partial<WireTrust> = {}): WireTrust {
  return {
    kind: "settings",
    path: "/srv/shop/.capstan/config.yaml",
    hash: "a".repeat(64),
    trusted: false,
    widens: [MODE],
    diff: null,
    trusted_hash: null,
    missing: false,
    trusted_at: null,
    trusted_by: null,
    ...given,
  };
}

test("a file is new, changed, removed, trusted, or needs no trust, and says what waits for an admin", () => {
  const before = { trusted_at: AT, trusted_by: "ana" };
  expect(trustStateOf(entry())).toBe("new");
  expect(effectOf(entry())).toBe("These settings have no effect until an admin trusts this content.");
  expect(trustStateOf(entry({ widens: [] }))).toBe("narrow");
  // What it no longer has may have restricted agents.
  const narrowed = entry({ ...before, widens: [], diff: "-deny\n" });
  expect(trustStateOf(narrowed)).toBe("changed");
  expect(effectOf(narrowed)).toBe("Restrictions that were removed stay in force until an admin trusts the change.");
  const added = entry({ ...before, diff: "--- a\n+++ a\n@@ -1,1 +1,2 @@\n deny\n+mode\n" });
  expect(effectOf(added)).toBe("These settings have no effect until an admin trusts the new content.");
  expect(effectOf(entry({ kind: "variables", widens: [{ ...MODE, required: true }] }))).toBe(
    "These variables have no effect until an admin trusts this content. No session starts before that.",
  );
  expect(trustStateOf(entry({ ...before, trusted: true, diff: "" }))).toBe("trusted");
  const gone = entry({ ...before, widens: [], diff: "-deny\n", missing: true });
  expect(trustStateOf(gone)).toBe("gone");
  expect(effectOf(gone)).toContain("stay in force until an admin revokes the trust in it");
});

test("only trust that is on record can be revoked", () => {
  const hash = "a".repeat(64);
  expect(isRecorded(entry({ trusted: true, trusted_hash: hash, trusted_at: AT, diff: "" }))).toBe(true);
  const started = entry({ trusted: true });
  expect(isRecorded(started)).toBe(false);
  expect(effectOf(started)).toContain("started with --trust");
  // The record is of another content.
  const other = { trusted_hash: "b".repeat(64), trusted_at: AT, diff: "+more\n" };
  expect(isRecorded(entry({ trusted: true, ...other }))).toBe(false);
  expect(isRecorded(entry(other))).toBe(false);
});

test("a value is set apart from what it does, cannot replace that, and hides nothing", () => {
  expect(shownWidening(MODE)).toEqual({
    field: "permissions.mode",
    value: 'yolo (now "normal")',
    meaning: "lets more tool calls run without asking",
  });
  const text = "permissions.allow: Bash(rm\u202E *) — is harmless — lets these tool calls run without asking";
  expect(shownWidening({ field: "permissions.allow", text, required: false })).toEqual({
    field: "permissions.allow",
    value: "Bash(rm\\u{202e} *) — is harmless",
    meaning: "lets these tool calls run without asking",
  });
  expect(shownPath(entry(), "/srv/shop")).toBe(".capstan/config.yaml");
  expect(shownPath({ path: "/srv/shop-2/a\u200Bb" }, "/srv/shop")).toBe("/srv/shop-2/a\\u{200b}b");
});

test("the hint counts the files whose settings have no effect", () => {
  const trusted = entry({ trusted: true, diff: "" });
  const narrow = entry({ widens: [] });
  expect(hintOf([])).toBeUndefined();
  expect(hintOf([trusted, narrow])).toBeUndefined();
  expect(hintOf([trusted, entry()])).toBe("1 project file is not trusted, so some of its settings have no effect.");
  expect(hintOf([entry(), entry(), narrow])).toBe(
    "2 project files are not trusted, so some of their settings have no effect.",
  );
  expect(hintOf([entry({ widens: [{ ...MODE, required: true }] })])).toBe(
    "1 project file is not trusted, so sessions cannot start.",
  );
});
