import { expect, test } from "vitest";
import { files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

const WRONG: readonly (readonly [written: string, problem: string])[] = [
  ["- { name: a, pattern: '(x+)+y' }", "2:23 redact.0.pattern: the pattern could take too long"],
  ["- { name: a, pattern: 'x(' }", "2:23 redact.0.pattern: character 3: expected a closing )"],
  ["- { name: a, pattern: 'x*' }", "2:23 redact.0.pattern: expected a pattern that does not match an empty text"],
  ["- { name: 'a b', pattern: 'x' }", "2:11 redact.0.name: expected a name of letters"],
  ["- { name: a, patern: 'x' }", 'redact.0.patern: unknown key; did you mean "pattern"?'],
  ["- x", "2:3 redact.0: expected a mapping"],
];

test.for(WRONG)("%s is refused with its place", async ([written, problem]) => {
  using tree = files({ "app/.capstan/config.yaml": `redact:\n${written}\n` });
  await expect(loadTrusted({ cwd: tree.at("app"), environment: { HOME: tree.path }, flags: {} })).rejects.toMatchObject(
    { code: "invalid_input", message: expect.stringContaining(problem) as string },
  );
});

test("patterns of the user and of the project are joined, so that a project cannot take one away", async () => {
  using tree = files({
    "user/.capstan/config.yaml": 'redact: [{ name: mine, pattern: "M-[0-9]" }]\n',
    "app/.capstan/config.yaml": 'redact: [{ name: ours, pattern: "O-[0-9]" }, { name: mine, pattern: "M-[0-9]" }]\n',
  });
  const { settings } = await loadTrusted({
    cwd: tree.at("app"),
    environment: { HOME: tree.at("user") },
    flags: {},
  });
  expect(settings.redact.map(({ name }) => name)).toEqual(["mine", "ours"]);
});
