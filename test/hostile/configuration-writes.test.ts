import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { ofType } from "../support/host.ts";
import { type Reply, say, scriptedModel, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { type Call, makeCalls, repository } from "../support/yolo-agent.ts";

test("in yolo mode, asks a person before every write to configuration", async () => {
  using place = repository();
  const asked: string[] = [];
  const write = (name: string): Call => ["Write", { file_path: place.at(name), content: "{}" }];
  const calls: readonly Call[] = [
    write(".capstan/config.yaml"),
    ["Bash", { command: "mkdir -p .capstan && echo 'permissions: { mode: yolo }' > .capstan/config.yaml" }],
    ["Bash", { command: "echo KEY=x > .env" }],
    ["Bash", { command: "git config core.fsmonitor ./evil" }],
    ["Bash", { command: "capstan trust" }],
    write(".mcp.json"),
    write(".mcp.json"),
    ["Bash", { command: "echo ordinary > b.txt && git add b.txt && git commit -qm second" }],
  ];
  const { events } = await makeCalls(calls, place, {
    askPermission: ({ input, remember }) => {
      expect(remember).toEqual([]);
      asked.push(String(input["command"] ?? input["file_path"]));
      return { behavior: input["file_path"] === place.at(".mcp.json") ? "allow" : "deny", by: "person" };
    },
  });
  expect(asked).toEqual(calls.slice(0, 7).map(([, input]) => input["command"] ?? input["file_path"]));
  expect([".capstan", ".env"].filter((name) => existsSync(place.at(name)))).toEqual([]);
  expect(readFileSync(place.at(".git/config"), "utf8")).not.toContain("fsmonitor");
  // What the person allowed is written and reported.
  expect(readFileSync(place.at(".mcp.json"), "utf8")).toBe("{}");
  expect(ofType(events, "capstan.configuration_changed")).toMatchObject([
    { changed: [{ path: ".mcp.json", read_by: "Claude Code" }], disabled: [] },
  ]);
  expect(place.git("log", "--format=%s").trim().split("\n")).toEqual(["second", "first"]);
});

test("--yes denies configuration and allows the rest, because it is not a person", async () => {
  const calls = [toolUse("Bash", { command: "echo A=1 > .env" }), toolUse("Bash", { command: "echo b > b.txt" })];
  await using model = await scriptedModel(({ toolResults }): Reply =>
    toolResults.length === 0 ? { blocks: calls } : say(toolResults.map(({ text }) => text).join("\n")),
  );
  using cli = testCli(model.url);
  const { code, stdout } = await cli.run(["run", "--yes", "Work."]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("--yes does not allow changes to configuration")]);
  expect([".env", "b.txt"].map((name) => existsSync(join(cli.cwd, name)))).toEqual([false, true]);
});

sandboxTest("a program in the sandbox neither changes nor makes configuration, and claude can commit", async () => {
  using place = repository();
  const proof = join(place.base, "proof");
  // What is there already, at the top and below.
  const there = [".envrc", "deep/agent.yaml", "deep/.npmrc"];
  mkdirSync(place.at("deep"));
  for (const name of there) writeFileSync(place.at(name), "mine\n");
  // Scripts, so that nothing in the call shows what they do.
  const script = (name: string, text: string): Call => ["Write", { file_path: place.at(name), content: text }];
  const calls: readonly Call[] = [
    script(
      "try.sh",
      `mkdir .capstan; echo x > .capstan/config.yaml; echo x > .env; echo x > .npmrc; echo x > agent.yaml
echo x > .git/hooks/post-checkout; git config core.fsmonitor ./evil; echo x > .git/info/attributes; mkdir .git/modules
echo x >> .envrc; echo x > deep/agent.yaml; rm -f deep/.npmrc; mv deep/agent.yaml deep/b; mv deep moved-deep
mv .git moved; ln -s . link; echo x > link/.env; mv sub/.. other; true`,
    ),
    ["Bash", { command: "sh try.sh; echo tried" }],
    ["Bash", { command: "echo b > b.txt && git add b.txt && git commit -qm second && echo committed" }],
    script(
      "plant.sh",
      `printf '#!/bin/sh\\ntouch ${proof}\\n' > evil.sh; chmod +x evil.sh
git init -q sub/repo; cd sub/repo; echo c > c; git add c; git -c user.name=a -c user.email=a@b commit -qm c
git config core.fsmonitor ${place.at("evil.sh")}; cd ../..
git update-index --add --cacheinfo 160000,$(git -C sub/repo rev-parse HEAD),sub/repo; mkdir sub/.capstan`,
    ),
    ["Bash", { command: "sh plant.sh; echo planted" }],
  ];
  const before = readFileSync(place.at(".git/config"), "utf8");
  const { results, events } = await makeCalls(calls, place, {
    askPermission: () => ({ behavior: "deny", by: "nobody" }),
    environment: { sandbox: { mode: "required", auto_allow_sandboxed: true } },
  });
  expect(results[1]).toContain("tried");
  // On the direct engine all of the workspace's `.git` is read-only.
  const commits = TEST_ENGINE === "claude";
  expect(results[2]).toMatch(
    commits ? /^committed/m : /Unable to create '.*\.git\/index\.lock': Read-only file system/,
  );
  expect(results[4]).toContain("planted");
  const kept = [".capstan", ".env", ".npmrc", "agent.yaml", ".git/hooks/post-checkout", ".git/info/attributes"];
  expect(kept.filter((name) => existsSync(place.at(name)))).toEqual([]);
  expect(there.map((name) => readFileSync(place.at(name), "utf8"))).toEqual(there.map(() => "mine\n"));
  expect(readFileSync(place.at(".git/config"), "utf8")).toBe(before);
  expect(place.git("log", "--format=%s").trim().split("\n")).toEqual(commits ? ["second", "first"] : ["first"]);
  const disabled = ofType(events, "capstan.configuration_changed").flatMap((event) => event.disabled);
  expect(disabled.map(({ path }) => path).toSorted()).toEqual(["sub/.capstan", "sub/repo/.git"]);
  place.git("status");
  expect(existsSync(proof)).toBe(false);
});

sandboxTest(
  "configuration that no mount can cover is gone before the next call, unless a person allowed it",
  async () => {
    using place = repository();
    const script =
      "mkdir -p sub; for f in .env.local sub/x.test.yaml sub/.gitattributes sub/.npmrc; do echo x > $f; done";
    const calls: readonly Call[] = [
      ["Write", { file_path: place.at("make.sh"), content: script }],
      ["Bash", { command: "sh make.sh; echo made" }],
      [
        "Bash",
        { command: "find . -name '.env*' -o -name '*.test.yaml' -o -name .gitattributes -o -name .npmrc -size +0" },
      ],
      ["Bash", { command: "cp make.sh .env.production && echo copied" }],
    ];
    const { results, events } = await makeCalls(calls, place, {
      askPermission: ({ input }) => {
        const isCopy = String(input["command"]).startsWith("cp ");
        return { behavior: isCopy || input["file_path"] !== undefined ? "allow" : "deny", by: "person" };
      },
      environment: { sandbox: { mode: "required", auto_allow_sandboxed: true } },
    });
    expect(results[1]).toContain("made");
    expect(results[2]).not.toMatch(/\.env\.local$|x\.test\.yaml$|sub\/\.npmrc$|\.gitattributes$/m);
    expect(results[3]).toContain("copied");
    const told = ofType(events, "capstan.configuration_changed");
    expect(told.flatMap(({ disabled }) => disabled.map((one) => one.path)).toSorted()).toEqual([
      ".env.local",
      "sub/.gitattributes",
      "sub/.npmrc",
      "sub/x.test.yaml",
    ]);
    expect(existsSync(place.at(".env.local"))).toBe(false);
    expect(readFileSync(place.at(".env.production"), "utf8")).toBe(script);
    expect(readFileSync(place.at("disabled-by-capstan.env.local"), "utf8")).toBe("x\n");
  },
);
