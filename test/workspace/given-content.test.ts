import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { GivenContent, WorkspaceLocation } from "../../src/core/ports/workspace.ts";
import { failureOf, gitIn, makeRepository, placeOf, type Site, site } from "./support.ts";

const EMPTY = { kind: "copy", mounts: [] } as const;

/** A machine with an empty workspace. */
async function scene(machine: Site): Promise<WorkspaceLocation> {
  const request = machine.request({ ...EMPTY, mounts: [] });
  return placeOf(request, await machine.workspaces.prepare(request));
}

function upload(machine: Site, at: string): GivenContent {
  const path = join(machine.home, "upload");
  writeFileSync(path, "content\n");
  return { kind: "file", path, at };
}

describe("a workspace without mounts", () => {
  test("starts empty, and comes from nowhere", async () => {
    using machine = site();
    const made = await machine.workspaces.prepare(machine.request({ ...EMPTY, mounts: [] }));
    expect(made).toMatchObject({ mounts: [], source: made.cwd });
    expect(existsSync(made.cwd)).toBe(true);
  });
});

describe("what is put into a workspace", () => {
  test("is a file, in directories that are made for it", async () => {
    using machine = site();
    const place = await scene(machine);
    await machine.workspaces.put(place, upload(machine, "a/b/data.txt"));
    expect(readFileSync(join(place.cwd, "a/b/data.txt"), "utf8")).toBe("content\n");
  });

  test.each(["", ".", "..", "../out.txt", "a/../../out.txt", "/etc/out.txt"])("never stands at %j", async (at) => {
    using machine = site();
    const place = await scene(machine);
    expect(await failureOf(machine.workspaces.put(place, upload(machine, at)))).toMatchObject({
      code: "workspace_invalid",
    });
    expect(existsSync(join(place.cwd, "../out.txt"))).toBe(false);
  });

  test("takes the place of nothing, and goes through no link that an agent made", async () => {
    using machine = site();
    const place = await scene(machine);
    const outside = join(machine.path, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(place.cwd, "link"));
    symlinkSync(join(outside, "file"), join(place.cwd, "dangling"));
    writeFileSync(join(place.cwd, "there.txt"), "the agent's\n");
    for (const at of ["link/data.txt", "dangling", "there.txt", "there.txt/below"])
      expect(await failureOf(machine.workspaces.put(place, upload(machine, at))), at).toMatchObject({
        code: expect.stringMatching(/^workspace_/),
      });
    expect(readFileSync(join(place.cwd, "there.txt"), "utf8")).toBe("the agent's\n");
    expect(existsSync(join(outside, "data.txt")) || existsSync(join(outside, "file"))).toBe(false);
  });

  test("is a clone of a repository at a branch, where the machine's settings allow its place", async () => {
    using machine = site();
    makeRepository(machine.source, { "a.txt": "one\n" });
    gitIn(machine.source, "branch", "side");
    const place = await scene(machine);
    const content = { kind: "repository", url: machine.source, ref: "side", at: "repos/app" } as const;
    expect(await failureOf(machine.workspaces.put(place, content))).toMatchObject({ code: "workspace_invalid" });
    expect(existsSync(join(place.cwd, "repos/app"))).toBe(false);

    await machine.withOptions({ mountRoots: [machine.source] }).put(place, content);
    expect(readFileSync(join(place.cwd, "repos/app/a.txt"), "utf8")).toBe("one\n");
  });

  test("never shows the token of a repository", async () => {
    using machine = site();
    const place = await scene(machine);
    const refused = { kind: "repository", url: "http://127.0.0.1:1/a.git", token: "t0ken", at: "a" } as const;
    expect(await failureOf(machine.workspaces.put(place, refused))).toMatchObject({ code: "workspace_invalid" });
    const unreachable = { ...refused, url: "https://127.0.0.1:1/a.git" };
    const { message } = await failureOf(machine.workspaces.put(place, unreachable));
    expect(message).toContain("https://127.0.0.1:1/a.git");
    expect(message).not.toContain("t0ken");
    expect(existsSync(join(place.cwd, "a"))).toBe(false);
  });

  test("is refused where a session works in place", async () => {
    using machine = site();
    const place = { sessionId: "session-1", kind: "in-place", cwd: machine.source, source: machine.source } as const;
    expect(await failureOf(machine.workspaces.put(place, upload(machine, "a.txt")))).toMatchObject({
      code: "workspace_invalid",
    });
  });
});
