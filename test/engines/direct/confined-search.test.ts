import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { runRipgrep } from "../../../src/engines/direct/tools/search/ripgrep.ts";
import { sandboxFinder } from "../../../src/sandbox/support.ts";
import { sandboxTest } from "../../support/hostile-world.ts";
import { OPEN_PLAN, toolWorkspace } from "./tool-workspace.ts";

sandboxTest(
  "a confined search reads what commands may read, and nothing behind a link or a hidden directory",
  async () => {
    using t = toolWorkspace();
    t.write("a.txt", "needle\n");
    writeFileSync(join(t.outside, "secret.txt"), "needle\n");
    symlinkSync(t.outside, join(t.cwd, "linked"));
    const { confine = [] } = sandboxFinder(process.env["PATH"] ?? "")();
    const plan = { ...OPEN_PLAN, mode: "required" as const, workspace: t.cwd, denyRead: [t.outside] };
    const search = async (directory: string, path: string, isConfined: boolean): Promise<string> => {
      const args = ["--files-with-matches", "-e", "needle", "--", path];
      const confinement = isConfined ? { plan, confine } : undefined;
      return (await runRipgrep({ directory, args }, { confinement, signal: new AbortController().signal })).output;
    };
    expect(await search(t.cwd, "./", true)).toBe("./a.txt\n");
    // As when a link is put in its way while it runs.
    expect(await search(t.cwd, "./linked", false)).toBe("./linked/secret.txt\n");
    expect(await search(t.cwd, "./linked", true)).toBe("");
    expect(await search(t.outside, "./", true)).toBe("");
  },
);
