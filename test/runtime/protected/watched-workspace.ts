import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseAgent } from "../../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../../src/core/environment/environment.ts";
import { PLAIN_SESSION } from "../../../src/core/ports/store.ts";
import { ConfigurationWatch } from "../../../src/runtime/protected/watch-configuration.ts";
import { temporaryDirectory } from "../../support/host.ts";

/** A repository of the person's, in which an agent works. */
export function workspace(sandbox: "off" | "required" = "required") {
  const directory = temporaryDirectory();
  const at = (...names: string[]): string => join(directory.path, "ws", ...names);
  const put = (name: string, text: string): void => {
    mkdirSync(join(at(name), ".."), { recursive: true });
    writeFileSync(at(name), text);
  };
  const env = { PATH: process.env["PATH"], HOME: directory.path, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]): string => {
    const author = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
    return execFileSync("git", [...author, ...args], { cwd: at(), env, encoding: "utf8", stdio: "pipe" });
  };
  put("a.txt", "a");
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  const record = {
    ...PLAIN_SESSION,
    id: "sesn_1",
    createdAt: 0,
    project: "default",
    agent: parseAgent({ name: "worker", model: "claude-opus-4-8" }),
    environment: parseEnvironment({ sandbox: { mode: sandbox } }),
    cwd: at(),
    source: at(),
    title: null,
    forkedFrom: null,
  };
  const stateDir = join(directory.path, "state");
  const watch = (createdAt = 0): ConfigurationWatch =>
    new ConfigurationWatch({ record: { ...record, createdAt }, stateDir });
  return { at, put, git, watch, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

export type Place = ReturnType<typeof workspace>;

/** What an agent does that wants the person's own `git status` to run a program. */
export function plantGitlink({ at, put, git }: Place, sub = "sub"): string {
  const proof = at("..", "proof");
  put("evil.sh", `#!/bin/sh\ntouch ${proof}\n`);
  chmodSync(at("evil.sh"), 0o755);
  git("init", "-q", sub);
  put(`${sub}/b.txt`, "b");
  git("-C", sub, "add", "-A");
  git("-C", sub, "commit", "-qm", "nested");
  const commit = git("-C", sub, "rev-parse", "HEAD").trim();
  git("-C", sub, "config", "core.fsmonitor", at("evil.sh"));
  git("update-index", "--add", "--cacheinfo", `160000,${commit},${sub}`);
  return proof;
}

/** Has the workspace's index name a repository whose own index names the nested one. */
export function moveInto({ git }: Place, outer: string, inner: string): void {
  const headOf = (sub: string): string => git("-C", sub, "rev-parse", "HEAD").trim();
  git("update-index", "--force-remove", `${outer}/${inner}`);
  git("init", "-q", outer);
  git("-C", outer, "update-index", "--add", "--cacheinfo", `160000,${headOf(`${outer}/${inner}`)},${inner}`);
  git("-C", outer, "commit", "-qm", "outer");
  git("update-index", "--add", "--cacheinfo", `160000,${headOf(outer)},${outer}`);
}
