import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { homeDirectory } from "../../src/config/project/home.ts";
import { findProject } from "../../src/config/project/project.ts";
import { files } from "./files.ts";

const DEFAULT = { root: undefined, id: "default" };

describe("the home directory", () => {
  test.each([
    [
      { CAPSTAN_HOME: "/data", HOME: "/home/a" },
      { path: "/data", source: "environment CAPSTAN_HOME" },
    ],
    [{ CAPSTAN_HOME: "/data" }, { path: "/data", source: "environment CAPSTAN_HOME" }],
    [
      { CAPSTAN_HOME: "", HOME: "/home/a" },
      { path: "/home/a/.capstan", source: "built in" },
    ],
    [{ HOME: "/home/a" }, { path: "/home/a/.capstan", source: "built in" }],
  ])("of %j is found", (environment, home) => {
    expect(homeDirectory(environment)).toEqual(home);
  });

  test.each([{}, { HOME: "" }, { HOME: "relative" }, { CAPSTAN_HOME: "" }])("of %j must be chosen", (environment) => {
    expect(() => homeDirectory(environment)).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: "No home directory to keep sessions in: HOME is not set. Set CAPSTAN_HOME to an absolute path.",
      }),
    );
  });

  test("is the same from everywhere", () => {
    expect(() => homeDirectory({ CAPSTAN_HOME: "./data", HOME: "/home/a" })).toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: 'CAPSTAN_HOME must be an absolute path (found "./data").',
      }),
    );
  });
});

describe("the project of a directory", () => {
  test("is the directory itself when it has .capstan", () => {
    using tree = files({ "app/.capstan/": "" });
    expect(findProject(tree.at("app"), { HOME: tree.path })).toEqual({ root: tree.at("app"), id: tree.at("app") });
  });

  test("is the nearest one upwards", () => {
    using tree = files({ "app/.capstan/": "", "app/part/.capstan/": "", "app/part/src/deep/": "", "app/other/": "" });
    expect(findProject(tree.at("app/part/src/deep"), { HOME: tree.path }).root).toBe(tree.at("app/part"));
    expect(findProject(tree.at("app/other"), { HOME: tree.path }).root).toBe(tree.at("app"));
  });

  test("is the default one when there is none upwards", () => {
    using tree = files({ "app/src/": "" });
    expect(findProject(tree.at("app/src"), { HOME: tree.path })).toEqual(DEFAULT);
  });

  test("is never the user's home directory for Capstan", () => {
    using tree = files({ "user/.capstan/capstan.db": "", "user/code/": "" });
    expect(findProject(tree.at("user/code"), { HOME: tree.at("user") })).toEqual(DEFAULT);
    expect(findProject(tree.at("user/.capstan"), { HOME: tree.at("user") })).toEqual(DEFAULT);
  });

  test("is never the usual home directory either, when another one is in use", () => {
    using tree = files({ "user/.capstan/capstan.db": "", "user/code/.capstan/": "", "data/": "" });
    const HOME = tree.at("user");
    expect(findProject(tree.at("user"), { HOME, CAPSTAN_HOME: tree.at("data") })).toEqual(DEFAULT);
    expect(findProject(tree.at("user/code"), { HOME, CAPSTAN_HOME: tree.at("user/code/.capstan") })).toEqual(DEFAULT);
    expect(findProject(tree.at("user/code"), { HOME }).root).toBe(tree.at("user/code"));
  });

  test("is never the home directory by another name", () => {
    using tree = files({ "user/.capstan/": "", "user/code/": "" });
    symlinkSync(tree.at("user"), tree.at("alias"));
    expect(findProject(tree.at("user/code"), { HOME: tree.at("alias") })).toEqual(DEFAULT);
    expect(findProject(tree.at("alias/code"), { HOME: tree.at("user") })).toEqual(DEFAULT);
  });

  test("has the same id however one gets there", () => {
    using tree = files({ "app/.capstan/": "", "app/src/": "" });
    symlinkSync(tree.at("app/src"), tree.at("short"));
    expect(findProject(tree.at("short"), { HOME: tree.path }).id).toBe(tree.at("app"));
    expect(findProject(join(tree.path, "app", "..", "app"), { HOME: tree.path }).id).toBe(tree.at("app"));
  });

  test("may keep its .capstan elsewhere", () => {
    using tree = files({ "shared/": "", "app/": "" });
    symlinkSync(tree.at("shared"), tree.at("app/.capstan"));
    expect(findProject(tree.at("app"), { HOME: tree.path }).root).toBe(tree.at("app"));
  });

  test("is not marked by a file, or by what cannot be looked at", () => {
    using tree = files({ ".capstan/": "", "file/.capstan": "text", "file/circle/": "" });
    symlinkSync(".capstan", tree.at("file/circle/.capstan"));
    expect(findProject(tree.at("file/circle"), { HOME: "/nowhere" }).root).toBe(tree.path);
  });

  test.each([
    ["nowhere", "no such file or directory"],
    ["file", "it is not a directory"],
    ["file/below", "a part of the path is not a directory"],
  ])("cannot be found from %s", (name, reason) => {
    using tree = files({ file: "" });
    expect(() => findProject(tree.at(name), { HOME: tree.path })).toThrow(
      expect.objectContaining({
        code: "cwd_missing",
        message: `Cannot work in ${tree.at(name)}: ${reason}. Choose another directory.`,
      }),
    );
  });
});
