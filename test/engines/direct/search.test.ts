import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textOf, toolWorkspace } from "./tool-workspace.ts";

describe("a search", () => {
  test("leaves out what a rule denies or the environment hides, although it was let through", async () => {
    using t = toolWorkspace({ deny: ["Read(./denied/**)"] });
    for (const name of ["shown.txt", "denied/a.txt", "denied/deep/b.txt"]) t.write(name, "needle\n");
    expect(textOf(await t.call("Grep", { pattern: "needle" }))).toBe("Found 1 file\nshown.txt");
    const content = await t.call("Grep", { pattern: "needle", output_mode: "content" });
    expect(textOf(content)).toBe("shown.txt:1:needle");
    const count = await t.call("Grep", { pattern: "needle", output_mode: "count" });
    expect(textOf(count)).toBe("shown.txt:1\n\nFound 1 total occurrence across 1 file.");
    expect(textOf(await t.call("Glob", { pattern: "**/*.txt" }))).toBe("shown.txt");
  });

  test("leaves out what the plan of the session hides", async () => {
    using place = toolWorkspace();
    using t = toolWorkspace({ sandbox: { denyRead: ["/"], allowRead: [] } });
    t.write("a.txt", "needle\n");
    place.write("a.txt", "needle\n");
    expect(textOf(await t.call("Grep", { pattern: "needle" }))).toBe("No files found");
    expect(textOf(await t.call("Glob", { pattern: "*" }))).toBe("No files found");
    expect(textOf(await place.call("Grep", { pattern: "needle" }))).toBe("Found 1 file\na.txt");
  });

  test("passes over files that hold a secret by their names, also for a pattern of its own", async () => {
    using t = toolWorkspace();
    t.write(".env", "needle\n");
    t.write("id_rsa", "needle\n");
    t.write("a.txt", "needle\n");
    expect(textOf(await t.call("Grep", { pattern: "needle", glob: "*" }))).toBe("Found 1 file\na.txt");
  });

  test("does not follow links out of the place", async () => {
    using t = toolWorkspace();
    writeFileSync(join(t.outside, "secret.txt"), "needle\n");
    symlinkSync(t.outside, join(t.cwd, "linked"));
    symlinkSync(join(t.outside, "secret.txt"), join(t.cwd, "file.txt"));
    t.write("a.txt", "needle\n");
    expect(textOf(await t.call("Grep", { pattern: "needle" }))).toBe("Found 1 file\na.txt");
    expect(textOf(await t.call("Glob", { pattern: "**/secret.txt" }))).toBe("No files found");
  });

  test("begins nowhere else than where it was permitted", async () => {
    using t = toolWorkspace();
    t.write("dir/a.txt", "needle\n");
    writeFileSync(join(t.outside, "secret.txt"), "needle\n");
    const between = (): void => {
      renameSync(join(t.cwd, "dir"), join(t.cwd, "moved"));
      symlinkSync(t.outside, join(t.cwd, "dir"));
    };
    const outcome = await t.call("Grep", { pattern: "needle", path: join(t.cwd, "dir") }, { between });
    expect(outcome.isError).toBe(true);
    expect(textOf(outcome)).toContain("changed after this call was permitted");
    const process = await t.call("Grep", { pattern: "PATH", path: "/proc/self" });
    expect(process.isError).toBe(true);
  });

  test("takes no settings from files or variables", async () => {
    using t = toolWorkspace();
    t.write("a.txt", "needle\n");
    t.write(".ripgreprc", "--invert-match\n");
    process.env["RIPGREP_CONFIG_PATH"] = join(t.cwd, ".ripgreprc");
    try {
      const outcome = await t.call("Grep", { pattern: "needle", output_mode: "content", path: join(t.cwd, "a.txt") });
      expect(textOf(outcome)).toBe("1:needle");
    } finally {
      delete process.env["RIPGREP_CONFIG_PATH"];
    }
  });

  test("is not misled by a pattern or a glob that looks like an option", async () => {
    using t = toolWorkspace();
    t.write("a.txt", "--pre=touch\n");
    expect(textOf(await t.call("Grep", { pattern: "--pre=touch" }))).toBe("Found 1 file\na.txt");
    expect(textOf(await t.call("Grep", { pattern: "x", glob: "--pre=sh" }))).toBe("No files found");
    expect(textOf(await t.call("Grep", { pattern: "x", type: "--pre=sh" }))).toContain("unrecognized file type");
    expect(textOf(await t.call("Glob", { pattern: "--files" }))).toBe("No files found");
  });

  test("stops when the turn is interrupted", async () => {
    using t = toolWorkspace();
    t.write("a.txt", "needle\n");
    const before = await t.call("Grep", { pattern: "needle" }, { signal: AbortSignal.abort() });
    expect(before.isError).toBe(true);
    const controller = new AbortController();
    const running = t.call("Glob", { pattern: "**/*", path: "/usr" }, { signal: controller.signal });
    controller.abort();
    expect((await running).isError).toBe(true);
  });

  test("gives the beginning of a long result, and a file with all of it", async () => {
    using t = toolWorkspace();
    t.write("a.txt", "needle in a line of some length\n".repeat(2_000));
    const outcome = await t.call("Grep", { pattern: "needle", output_mode: "content", head_limit: 0 });
    expect(textOf(outcome)).toMatch(/^<persisted-output>\nOutput too large \(.*KB\)\. Full output saved to: /);
    expect(textOf(outcome).length).toBeLessThan(3_000);
    expect(readdirSync(join(t.stateDir, "tool-results"))).toEqual(["toolu_1.txt"]);
    expect(readFileSync(outcome.outputFile ?? "", "utf8").split("\n")).toHaveLength(2_000);
  });

  test("lists a hundred files, the oldest first, and says how many more there are", async () => {
    using t = toolWorkspace();
    mkdirSync(join(t.cwd, "many"));
    for (let index = 0; index < 130; index++) t.write(`many/${index}`, "");
    const text = textOf(await t.call("Glob", { pattern: "many/*" }));
    expect(text.split("\n")).toHaveLength(101);
    expect(text).toContain("(Showing 100 of 130 matching files; 30 more are not listed.");
  });

  test("takes no file for another because of its name", async () => {
    using t = toolWorkspace();
    t.write("a:1:b.txt", "needle\n");
    t.write("shown.txt", "nothing\n");
    t.write("hidden\nshown.txt", "needle hidden\n");
    t.write("below\nshown.txt/shown.txt", "needle hidden\n");
    const outcome = await t.call("Grep", { pattern: "needle", output_mode: "content" });
    expect(textOf(outcome)).toBe("a:1:b.txt:1:needle");
  });
});
