import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failureOf, site } from "./support.ts";

test("a session does not work in place where everything, or Capstan itself, is", async () => {
  using machine = site();
  const inside = join(machine.capstanHome, "workspaces", "another-session");
  mkdirSync(inside, { recursive: true });
  const link = join(machine.source, "link");
  symlinkSync(machine.home, link);
  const refused = { "/": "root", [machine.home]: "home", [machine.path]: "home", [machine.capstanHome]: "Capstan" };
  for (const [source, why] of Object.entries({ ...refused, [inside]: "Capstan", [link]: "home" })) {
    const request = { ...machine.request({ kind: "in-place" }), source };
    const failure = await failureOf(machine.workspaces.prepare(request));
    expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining(why) });
    expect(failure.message).toMatch(/Start it in another directory/);
  }
});

test("a session does not work in place around a Capstan home that is not made yet, or lies elsewhere", async () => {
  using machine = site();
  const workspaces = machine.withOptions({ capstanHome: join(machine.source, "not", "made"), home: undefined });
  const failure = await failureOf(workspaces.validate(machine.request({ kind: "in-place" })));
  expect(failure).toMatchObject({
    code: "workspace_invalid",
    message: expect.stringContaining("it contains Capstan's own files, in"),
  });
});

test("a link to a project is resolved, so that two ways to one directory are one place", async () => {
  using machine = site();
  const link = join(machine.home, "shortcut");
  symlinkSync(machine.source, link);
  const made = await machine.workspaces.prepare({ ...machine.request({ kind: "in-place" }), source: link });
  expect(made).toEqual({ cwd: machine.source, source: machine.source, mounts: [], notes: [] });
});
