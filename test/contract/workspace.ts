import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import {
  failureOf,
  filesOf,
  gitIn,
  makeRepository,
  placeOf,
  type Site,
  site,
  treeOf,
  write,
} from "../workspace/support.ts";

export interface WorkspaceContract {
  readonly workspace: NonNullable<EnvironmentInput["workspace"]>;
  /** Whether the session works on files of its own. */
  readonly owns: boolean;
}

const FILES = {
  "README.md": "# One\n",
  "src/main.ts": "export {};\n",
  "src/deep/data.bin": Buffer.from([0, 255, 10, 13]),
};

function start(): Site {
  const machine = site();
  makeRepository(machine.source, FILES);
  return machine;
}

/** What core/workspace.ts means for every kind: a session that is started in a git repository. */
export function workspaceContract({ workspace, owns }: WorkspaceContract): void {
  describe(`a workspace of the kind ${workspace.kind}`, () => {
    test("is a directory with the expected files", async () => {
      using machine = start();
      const made = await machine.workspaces.prepare(machine.request(workspace));
      expect(filesOf(made.cwd).filter((path) => !path.startsWith(".git"))).toEqual(Object.keys(FILES).toSorted());
      for (const [name, content] of Object.entries(FILES))
        expect(readFileSync(join(made.cwd, name))).toEqual(Buffer.from(content));
      expect(made.source).toBe(machine.source);
      expect(made.cwd === machine.source).toBe(!owns);
    });

    test("leaves the host's files and git state as they were, until it is removed and after", async () => {
      using machine = start();
      write(machine.source, { "README.md": "# Changed\n", "new.txt": "new" });
      gitIn(machine.source, "add", "new.txt");
      const before = hostState(machine.source);
      const request = machine.request(workspace);
      const made = await machine.workspaces.prepare(request);
      expect(hostState(machine.source)).toEqual(before);
      if (owns) write(made.cwd, { "README.md": "# The agent's\n", "more/of-it.txt": "x" });
      expect(hostState(machine.source)).toEqual(before);
      await machine.workspaces.remove(placeOf(request, made));
      expect(hostState(machine.source)).toEqual(before);
    });

    test("is listed, has a size, and is gone when it is removed; removing it again does nothing", async () => {
      using machine = start();
      expect(await machine.workspaces.sessionIds()).toEqual([]);
      const request = machine.request(workspace);
      const made = await machine.workspaces.prepare(request);
      const place = placeOf(request, made);
      expect(await machine.workspaces.sessionIds()).toEqual(owns ? [request.sessionId] : []);
      expect((await machine.workspaces.size(place)) > 0).toBe(owns);
      await machine.workspaces.remove(place);
      await machine.workspaces.remove(place);
      expect(treeOf(machine.root)).toEqual({});
      expect(await machine.workspaces.sessionIds()).toEqual([]);
      expect(await machine.workspaces.size(place)).toBe(0);
      expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(1);
    });

    test("is known to be as it was made, until somebody changes a file of it", async () => {
      using machine = start();
      const request = machine.request(workspace);
      const made = await machine.workspaces.prepare(request);
      const place = placeOf(request, made);
      const madeAt = Date.now();
      const changed = (): Promise<boolean> => machine.workspaces.changedSince(place, madeAt);
      gitIn(machine.source, "status");
      expect(await changed()).toBe(false);
      // The clock of a file system is a little behind.
      await sleep(20);
      write(made.cwd, { "src/deep/data.bin": Buffer.from([0, 255, 10, 13]) });
      expect(await changed()).toBe(owns);
      await machine.workspaces.remove(place);
      expect(await changed()).toBe(false);
    });

    test("leaves nothing when it is interrupted", async () => {
      using machine = start();
      const before = treeOf(machine.source, { times: true });
      const signal = AbortSignal.abort();
      const failure = await failureOf(machine.workspaces.prepare(machine.request(workspace), { signal }));
      expect(failure).toMatchObject({ code: "workspace_failed", message: expect.stringContaining("interrupted") });
      expect(treeOf(machine.root)).toEqual({});
      expect(treeOf(machine.source, { times: true })).toEqual(before);
    });

    test("is not made by looking whether it can be", async () => {
      using machine = start();
      const before = treeOf(machine.path, { times: true });
      await machine.workspaces.validate(machine.request(workspace));
      expect(treeOf(machine.path, { times: true })).toEqual(before);
    });

    test("needs a directory to start from, and an id that is a name", async () => {
      using machine = start();
      const { workspaces } = machine;
      const missing = { ...machine.request(workspace), source: join(machine.path, "nowhere") };
      const file = { ...machine.request(workspace), source: join(machine.source, "README.md") };
      const escaping = machine.request(workspace, "../elsewhere");
      for (const request of [missing, file, escaping]) {
        expect(await failureOf(workspaces.validate(request))).toMatchObject({ code: "workspace_invalid" });
        expect(await failureOf(workspaces.prepare(request))).toMatchObject({ code: "workspace_invalid" });
      }
    });
  });
}

/** All that a person would miss: files, their modes and times, the index, what is checked out, and their branches. */
function hostState(source: string): unknown {
  const files = Object.entries(treeOf(source, { times: true })).filter(([path]) => !path.startsWith(".git/"));
  return {
    files,
    index: readFileSync(join(source, ".git/index")).toString("base64"),
    head: readFileSync(join(source, ".git/HEAD"), "utf8"),
    config: readFileSync(join(source, ".git/config"), "utf8"),
    status: gitIn(source, "status", "--porcelain=v2"),
    branches: gitIn(source, "for-each-ref", "--format=%(refname) %(objectname)")
      .split("\n")
      .filter((line) => !line.startsWith("refs/heads/capstan/")),
  };
}
