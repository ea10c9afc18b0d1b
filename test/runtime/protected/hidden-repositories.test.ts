import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { disable, disableAll } from "../../../src/runtime/protected/disable-configuration.ts";
import { configurationIn } from "../../../src/runtime/protected/find-configuration.ts";
import { moveInto, type Place, plantGitlink, workspace } from "./watched-workspace.ts";

/** A directory that git takes for a repository by what is in it, and that runs a program for whoever asks git there. */
function plantUnnamed({ at, put }: Place, name = "deep/data"): string {
  const proof = at("..", "proof");
  for (const part of ["objects", "refs"]) mkdirSync(at(name, part), { recursive: true });
  put(`${name}/HEAD`, "ref: refs/heads/main\n");
  put(
    `${name}/config`,
    `[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = "touch ${proof}; false"\n`,
  );
  return proof;
}

describe("a repository under another name than .git", () => {
  test("without a look, runs a program in the person's git status there", () => {
    using place = workspace();
    const proof = plantUnnamed(place);
    place.git("-C", "deep/data", "status");
    expect(existsSync(proof)).toBe(true);
  });

  test("is disabled at the end of the turn, and nothing of it is lost", async () => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1");
    const proof = plantUnnamed(place);
    expect(await watch.atTurnEnd()).toMatchObject([
      {
        changed: [{ path: "deep/data/HEAD", read_by: "git" }],
        disabled: [{ path: "deep/data/HEAD", moved_to: "deep/data/HEAD.disabled-by-capstan" }],
      },
    ]);
    place.git("-C", "deep/data", "status");
    expect(existsSync(proof)).toBe(false);
    expect(readFileSync(place.at("deep/data/config"), "utf8")).toContain("fsmonitor");
  });

  test("is disabled when it has its parts elsewhere", async () => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1");
    const proof = plantUnnamed(place, "deep/parts");
    place.put("deep/data/HEAD", "ref: refs/heads/main\n");
    place.put("deep/data/commondir", "../parts\n");
    const [event] = await watch.atTurnEnd();
    expect(event).toMatchObject({ disabled: [{ path: "deep/data/HEAD" }, { path: "deep/parts/HEAD" }] });
    place.git("-C", "deep/data", "status");
    expect(existsSync(proof)).toBe(false);
  });

  test("is left alone as git makes it, and disabled when a later turn makes it run something", async () => {
    using place = workspace();
    const first = place.watch();
    await first.beforeCall("call_1");
    place.git("init", "-q", "--bare", "bare");
    expect(await first.atTurnEnd()).toMatchObject([{ changed: [{ path: "bare/HEAD" }], disabled: [] }]);
    first.markReported();
    const second = place.watch();
    await second.beforeCall("call_2");
    place.git("-C", "bare", "config", "core.fsmonitor", "evil");
    expect(await second.atTurnEnd()).toMatchObject([{ disabled: [{ path: "bare/HEAD" }] }]);
  });

  test("that was there before has its settings read-only in the sandbox", () => {
    using place = workspace();
    place.git("init", "-q", "--bare", "bare");
    expect(configurationIn(place.at())).toEqual(
      expect.arrayContaining([place.at("bare/config"), place.at("bare/hooks")]),
    );
  });
});

test("repositories that the index names one inside the other are disabled, however many there are", async () => {
  using place = workspace();
  place.put(".gitignore", "node_modules\n");
  const watch = place.watch();
  await watch.beforeCall("call_1");
  const names = Array.from({ length: 11 }, (_, at) => `d${at}`);
  const whole = join("node_modules", ...names);
  const proof = plantGitlink(place, whole);
  for (let level = names.length - 1; level > 0; level -= 1)
    moveInto(place, join("node_modules", ...names.slice(0, level)), names[level] ?? "");
  const [event] = await watch.atTurnEnd();
  expect(event).toMatchObject({ disabled: [{ path: expect.stringMatching(/^node_modules\/d0\/.*\.git$/) }] });
  place.git("status");
  expect(existsSync(proof)).toBe(false);
});

test("a .git that is disabled is no repository under its new name either", async () => {
  using place = workspace();
  const watch = place.watch();
  await watch.beforeCall("call_1");
  const proof = plantGitlink(place);
  place.git("-C", "sub", "config", "core.worktree", "..");
  await watch.atTurnEnd();
  place.git("-C", "sub/.git.disabled-by-capstan", "status");
  expect(existsSync(proof)).toBe(false);
});

describe("between the look and the end of what is disabled", () => {
  test("a directory that became a link does not lead to somebody else's files", () => {
    using place = workspace();
    place.put("sub/.env", "A=1\n");
    place.put("other/.npmrc", "x=1\n");
    mkdirSync(place.at("..", "elsewhere"));
    writeFileSync(place.at("..", "elsewhere", ".env"), "THEIRS=1\n");
    renameSync(place.at("sub"), place.at("moved"));
    symlinkSync(place.at("..", "elsewhere"), place.at("sub"));
    expect(() => disable(place.at("sub/.env"), place.at())).toThrow(/part of it is now a link/);
    // What can be disabled is.
    const paths = [place.at("sub/.env"), place.at("other/.npmrc")];
    expect(disableAll(paths, place.at())).toEqual({
      disabled: [{ path: paths[1], movedTo: `${paths[1]}.disabled-by-capstan` }],
      problem: expect.stringMatching(/^sub\/\.env could not be disabled: .*part of it is now a link/),
    });
    expect(readFileSync(place.at("..", "elsewhere", ".env"), "utf8")).toBe("THEIRS=1\n");
  });

  test("a workspace that is known by a link is no such place", () => {
    using place = workspace();
    place.put("sub/.env", "A=1\n");
    symlinkSync(place.at(), place.at("..", "known"));
    const path = place.at("..", "known", "sub", ".env");
    expect(disable(path, place.at("..", "known")).movedTo).toContain("disabled-by-capstan.env");
    expect(existsSync(place.at("sub/.env"))).toBe(false);
  });
});

describe("a command that runs on when its turn is over", () => {
  test("leaves nothing: the next look finds what it wrote since", async () => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1", undefined, { isLeft: true });
    expect(await watch.atTurnEnd()).toEqual([]);
    watch.markReported();
    const proof = plantGitlink(place);
    place.put("deep/.npmrc", "script-shell=evil\n");
    await watch.beforeCall("call_2");
    expect(await watch.atTurnEnd()).toMatchObject([{ disabled: [{ path: "deep/.npmrc" }, { path: "sub/.git" }] }]);
    watch.markReported();
    place.git("status");
    expect(existsSync(proof)).toBe(false);

    place.put("deep/.env", "A=1\n");
    const said: unknown[] = [];
    await watch.atRest(async (warned) => said.push(...warned));
    expect(said).toMatchObject([{ disabled: [{ path: "deep/.env" }] }]);
    // From then on nothing of the session runs.
    place.put("deep/.env", "A=1\n");
    await watch.atRest(async (warned) => said.push(...warned));
    await watch.beforeCall("call_3");
    expect(await watch.atTurnEnd()).toEqual([]);
    expect(said).toHaveLength(1);
  });

  test("is nobody's business where there was none: a person's file stays", async () => {
    using place = workspace();
    const watch = place.watch();
    await watch.beforeCall("call_1");
    expect(await watch.atTurnEnd()).toEqual([]);
    watch.markReported();
    place.put(".env.local", "MINE=1\n");
    await watch.beforeCall("call_2");
    expect(await watch.atTurnEnd()).toEqual([]);
    expect(existsSync(place.at(".env.local"))).toBe(true);
  });
});
