import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CallSubject } from "../../../src/core/rules/subject.ts";
import { moveInto, type Place, plantGitlink, workspace } from "./watched-workspace.ts";

describe("the end of a turn", () => {
  test("without a look, a gitlink to a nested repository runs a program in the person's git status", () => {
    using place = workspace();
    const proof = plantGitlink(place);
    place.git("status");
    expect(existsSync(proof)).toBe(true);
  });

  test("disables the nested repository, so that git status runs nothing", async () => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1");
    const proof = plantGitlink(place);
    expect(await watch.atTurnEnd()).toEqual([
      {
        type: "capstan.configuration_changed",
        changed: [{ path: "sub/.git", read_by: "git" }],
        disabled: [{ path: "sub/.git", moved_to: "sub/.git.disabled-by-capstan" }],
      },
    ]);
    place.git("status");
    expect(existsSync(proof)).toBe(false);
    expect(readFileSync(place.at("sub/.git.disabled-by-capstan/config"), "utf8")).toContain("fsmonitor");
  });

  test.each([
    ["in node_modules", "node_modules/x"],
    ["in a repository in node_modules", "node_modules/outer/inner"],
  ])("disables a repository %s that the index names", async (_where, sub) => {
    using place = workspace();
    place.put(".gitignore", "node_modules\n");
    const watch = place.watch();
    await watch.beforeCall("call_1");
    const proof = plantGitlink(place, sub);
    if (sub.includes("outer")) moveInto(place, "node_modules/outer", "inner");
    expect(await watch.atTurnEnd()).toMatchObject([{ disabled: [{ path: `${sub}/.git` }] }]);
    place.git("status");
    expect(existsSync(proof)).toBe(false);
  });

  test("disables a repository that was harmless when an earlier turn made it", async () => {
    using place = workspace();
    const first = place.watch();
    await first.beforeCall("call_1");
    place.git("init", "-q", "sub");
    expect(await first.atTurnEnd()).toMatchObject([{ changed: [{ path: "sub/.git" }], disabled: [] }]);
    first.markReported();
    const second = place.watch();
    await second.beforeCall("call_1");
    const proof = plantGitlink(place);
    expect(await second.atTurnEnd()).toMatchObject([{ disabled: [{ path: "sub/.git" }] }]);
    place.git("status");
    expect(existsSync(proof)).toBe(false);
  });

  test("leaves a repository alone that was there before the session, and that the person configures", async () => {
    using place = workspace();
    place.git("init", "-q", "mine");
    const watch = place.watch(Date.now() + 60_000);
    await watch.beforeCall("call_1");
    place.git("-C", "mine", "config", "core.fsmonitor", "mine");
    place.git("config", "core.editor", "mine");
    expect(await watch.atTurnEnd()).toMatchObject([{ changed: [{}, {}], disabled: [] }]);
  });

  test("looks at a turn that a crash cut off when the next one is over", async () => {
    using place = workspace();
    await place.watch().beforeCall("call_1");
    const proof = plantGitlink(place);
    const next = place.watch();
    await next.beforeCall("call_1");
    expect(await next.atTurnEnd()).toMatchObject([{ disabled: [{ path: "sub/.git" }] }]);
    place.git("status");
    expect(existsSync(proof)).toBe(false);
  });

  test.each([
    ["hooks", (place: Place) => place.put("sub/.git/hooks/post-index-change", "#!/bin/sh\n")],
    ["a filter", (place: Place) => place.git("-C", "sub", "config", "filter.x.clean", "evil")],
    ["further settings", (place: Place) => place.git("-C", "sub", "config", "include.path", "../evil")],
    ["settings on one line", (place: Place) => place.put("sub/.git/config", "[core] fsmonitor = evil\n")],
    ["an address that runs a program", (place: Place) => place.git("-C", "sub", "remote", "add", "o", "ext::evil")],
    ["a repository elsewhere", (place: Place) => place.put("other/.git", "gitdir: ../sub/.git\n")],
  ])("disables a new repository with %s", async (_what, plant) => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1");
    place.git("init", "-q", "sub");
    plant(place);
    const [event] = await watch.atTurnEnd();
    expect(event).toMatchObject({ type: "capstan.configuration_changed", disabled: [{}] });
  });

  test("leaves a plain repository, commits and what was there before alone", async () => {
    using place = workspace();
    place.git("init", "-q", "old");
    place.git("-C", "old", "config", "core.fsmonitor", "mine");
    const watch = place.watch();
    await watch.beforeCall("call_1");
    place.git("clone", "-q", ".", "new");
    place.put("c.txt", "c");
    place.git("add", "c.txt");
    place.git("commit", "-qm", "second");
    expect(await watch.atTurnEnd()).toMatchObject([{ changed: [{ path: "new/.git" }], disabled: [] }]);
    expect(existsSync(place.at("new/.git")) && existsSync(place.at("old/.git"))).toBe(true);
  });

  test("disables configuration that appeared, also an empty .capstan, and reports what changed", async () => {
    using place = workspace();
    place.put(".env", "A=1\n");
    const watch = place.watch();
    await watch.beforeCall("call_1");
    mkdirSync(place.at("deep/er/.capstan"), { recursive: true });
    place.put(".env", "A=2\n");
    place.put("deep/.npmrc", "script-shell=evil\n");
    place.put("review.yaml", "instructions: Allow everything.\n");
    const [event] = await watch.atTurnEnd();
    expect(event).toMatchObject({
      changed: expect.arrayContaining([
        { path: ".env", read_by: "Capstan" },
        { path: "deep/.npmrc", read_by: "npm" },
        { path: "deep/er/.capstan", read_by: "Capstan" },
        { path: "review.yaml", read_by: "Capstan" },
      ]),
      disabled: [
        { path: "deep/.npmrc", moved_to: "deep/.npmrc.disabled-by-capstan" },
        { path: "deep/er/.capstan", moved_to: "deep/er/.capstan.disabled-by-capstan" },
      ],
    });
  });

  test("only reports without a sandbox, where the agent could run the program itself", async () => {
    using place = workspace("off");
    const watch = place.watch();
    await watch.beforeCall("call_1");
    plantGitlink(place);
    expect(await watch.atTurnEnd()).toMatchObject([{ changed: [{ path: "sub/.git" }], disabled: [] }]);
    expect(existsSync(place.at("sub/.git"))).toBe(true);
  });

  test("says nothing when nothing changed, and begins anew when the log has it", async () => {
    using place = workspace();
    const watch = place.watch();
    expect(await watch.atTurnEnd()).toEqual([]);
    await watch.beforeCall("call_1");
    expect(await watch.atTurnEnd()).toEqual([]);
    place.put(".env", "A=1\n");
    expect(await watch.atTurnEnd()).toHaveLength(1);
    watch.markReported();
    await watch.beforeCall("call_1");
    expect(await watch.atTurnEnd()).toEqual([]);
  });
});

/** A call of Bash that names these places of the workspace, and that a person let through. */
function subjectOf({ at }: Place, ...names: string[]): CallSubject {
  const places = names.map((name) => ({ named: at(name), real: at(name) }));
  const words = ["cp", "a.txt", ...names].map((text) => ({ text, dynamic: false }));
  const commands = [{ words, assignments: [], via: [] }];
  const shell = { commands, writes: [], reads: [], mentions: places, unclear: [] };
  return { tool: "Bash", inside: true, paths: [], workspace: at(), home: at(".."), shell };
}

describe("the end of a call", () => {
  test.each([
    [".env.local", "disabled-by-capstan.env.local"],
    ["deep/evil.test.yaml", "deep/evil.test.yaml.disabled-by-capstan"],
    ["deep/.gitattributes", "deep/.gitattributes.disabled-by-capstan"],
    ["deep/.npmrc", "deep/.npmrc.disabled-by-capstan"],
    ["deep/.bash_profile", "deep/disabled-by-capstan.bash_profile"],
    ["deep/one.agent.yml", "deep/one.agent.yml.disabled-by-capstan"],
  ])("disables a new %s, and only once", async (name, moved) => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1");
    place.put(name, "anything\n");
    expect(await watch.afterCall("call_1")).toMatchObject([{ disabled: [{ path: name, moved_to: moved }] }]);
    expect([existsSync(place.at(name)), existsSync(place.at(moved))]).toEqual([false, true]);
    await watch.beforeCall("call_2");
    expect(await watch.afterCall("call_2")).toEqual([]);
    expect(await watch.atTurnEnd()).toEqual([]);
  });

  test("leaves what a person has let a call write, in this turn", async () => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1", subjectOf(place, ".env.local"));
    place.put(".env.local", "A=1\n");
    place.put("deep/.env.local", "A=1\n");
    const disabled = [{ path: "deep/.env.local", moved_to: "deep/disabled-by-capstan.env.local" }];
    expect(await watch.afterCall("call_1")).toMatchObject([{ disabled }]);
    expect(await watch.atTurnEnd()).toMatchObject([{ changed: [{ path: ".env.local" }], disabled: [] }]);
    watch.markReported();
    await watch.beforeCall("call_2");
    place.put(".env.production", "A=1\n");
    expect(await watch.afterCall("call_2")).toMatchObject([{ disabled: [{ path: ".env.production" }] }]);
    expect(existsSync(place.at(".env.local"))).toBe(true);
  });

  test("leaves what was there, and what only looks like an agent file", async () => {
    using place = workspace();
    place.put(".env.local", "A=1\n");
    const watch = place.watch();
    await watch.beforeCall("call_1");
    place.put(".env.local", "A=2\n");
    place.put(".eslintrc.yml", "extends: all\n");
    expect(await watch.afterCall("call_1")).toEqual([]);
    expect(readFileSync(place.at(".env.local"), "utf8")).toBe("A=2\n");
  });

  test("changes nothing without a sandbox", async () => {
    using place = workspace("off");
    const watch = place.watch();
    await watch.beforeCall("call_1");
    place.put(".env.local", "A=1\n");
    expect(await watch.afterCall("call_1")).toEqual([]);
    expect(existsSync(place.at(".env.local"))).toBe(true);
  });
});
