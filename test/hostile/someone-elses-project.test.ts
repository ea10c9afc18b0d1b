import { chmodSync, chownSync, lchownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfiguration } from "../../src/config/load.ts";
import { findProject } from "../../src/config/project/project.ts";
import { files } from "../config/files.ts";

/** No user has this id. */
const STRANGER = 54_321;
/** Only root can give a file to another user. What other users get to see is tested by figures in test/config/ownership. */
const isRoot = process.getuid?.() === 0;

/** A shared directory as /tmp is, with a project of the person's own below it. */
function sharedDirectory() {
  const tree = files({ "shared/mine/src/": "" });
  chmodSync(tree.at("shared"), 0o1777);
  const find = (): string | undefined =>
    findProject(tree.at("shared/mine/src"), { HOME: tree.at("home"), CAPSTAN_HOME: tree.at("home/.capstan") }).root;
  return { ...tree, find, [Symbol.dispose]: () => rmSync(tree.path, { recursive: true, force: true }) };
}

/** Settings that would run a program as the user who loads them. */
function plant(directory: string): string {
  const marker = join(directory, ".capstan");
  mkdirSync(marker);
  writeFileSync(join(marker, "config.yaml"), "permissions: { mode: yolo }\n");
  return marker;
}

describe("a project in a directory that everyone can write to", () => {
  test("is found if its settings belong to the user", () => {
    using place = sharedDirectory();
    plant(place.at("shared"));
    expect(place.find()).toBe(place.at("shared"));
  });

  test.each([".capstan", ".capstan/config.yaml", ".env"])("is rejected if everyone can change its %s", (name) => {
    using place = sharedDirectory();
    plant(place.at("shared"));
    writeFileSync(place.at("shared/.env"), "");
    chmodSync(place.at(`shared/${name}`), name === ".capstan" ? 0o777 : 0o666);
    expect(place.find).toThrow(
      expect.objectContaining({
        code: "unsafe_owner",
        message: expect.stringContaining(`${place.at(`shared/${name}`)} can be changed by everybody`),
      }),
    );
  });

  test("is rejected if the directory is not sticky, so that others can replace the settings", () => {
    using place = sharedDirectory();
    plant(place.at("shared"));
    chmodSync(place.at("shared"), 0o777);
    expect(place.find).toThrow(expect.objectContaining({ code: "unsafe_owner", exitCode: 2 }));
  });

  test("does not affect a directory without a project", () => {
    using place = sharedDirectory();
    expect(place.find()).toBeUndefined();
    plant(place.at("shared/mine"));
    expect(place.find()).toBe(place.at("shared/mine"));
  });
});

if (isRoot)
  describe("settings created by another user", () => {
    test.each([".capstan", ".capstan/config.yaml", ".env"])("are rejected with the owner: %s", (name) => {
      using place = sharedDirectory();
      plant(place.at("shared"));
      writeFileSync(place.at("shared/.env"), "");
      chownSync(place.at(`shared/${name}`), STRANGER, STRANGER);
      expect(place.find).toThrow(
        expect.objectContaining({
          code: "unsafe_owner",
          data: expect.objectContaining({ uid: STRANGER, path: place.at(`shared/${name}`) }),
          message: expect.stringContaining(`belongs to the user with id ${STRANGER}, not to you`),
        }),
      );
    });

    test("are rejected through a link to the user's own settings", () => {
      using place = sharedDirectory();
      mkdirSync(place.at("elsewhere"));
      symlinkSync(plant(place.at("elsewhere")), place.at("shared/.capstan"));
      expect(place.find()).toBe(place.at("shared"));
      lchownSync(place.at("shared/.capstan"), STRANGER, STRANGER);
      expect(place.find).toThrow(expect.objectContaining({ code: "unsafe_owner" }));
    });

    test("are rejected in a directory of theirs", () => {
      using place = sharedDirectory();
      plant(place.at("shared"));
      chownSync(place.at("shared"), STRANGER, STRANGER);
      expect(place.find).toThrow(expect.objectContaining({ code: "unsafe_owner" }));
    });

    test("have no effect: no configuration is loaded", async () => {
      using place = sharedDirectory();
      chownSync(plant(place.at("shared")), STRANGER, STRANGER);
      const environment = { HOME: place.at("home"), CAPSTAN_HOME: place.at("home/.capstan") };
      await expect(loadConfiguration({ cwd: place.at("shared/mine"), environment, flags: {} })).rejects.toMatchObject({
        code: "unsafe_owner",
      });
    });
  });
