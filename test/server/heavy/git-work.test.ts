import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findProgram } from "../../../src/process/programs.ts";
import type { HeavyLimits } from "../../../src/server/heavy/heavy-limits.ts";
import { type Listening, listen } from "../../../src/server/listen.ts";
import { type People, people, session } from "../../support/api-people.ts";
import { temporaryDirectory } from "../../support/host.ts";
import { order } from "../../support/obedient-model.ts";
import { until } from "../../support/until.ts";

const directory = temporaryDirectory();
const [slow, pidFile] = [join(directory.path, "slow"), join(directory.path, "pid")];
const before = { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"] };
const limits: { -readonly [Name in keyof HeavyLimits]: HeavyLimits[Name] } = {
  ms: 600_000,
  bytes: 1e6,
  fileBytes: 1e6,
};
let all: People;
let listening: Listening;
let id: string;

/** The real git, but for the command that is named in the file `slow`: that one never ends by itself. */
function putSlowGit(): void {
  const [bin, tmp] = [join(directory.path, "bin"), join(directory.path, "tmp")];
  for (const path of [bin, tmp]) mkdirSync(path);
  const script = `#!/bin/sh
if [ -e ${slow} ]; then
  case " $* " in *" $(cat ${slow}) "*) echo $$ >> ${pidFile}.all; echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 100000;; esac
fi
exec ${findProgram("git")} "$@"
`;
  writeFileSync(join(bin, "git"), script);
  chmodSync(join(bin, "git"), 0o755);
  Object.assign(process.env, { PATH: `${bin}:${before.PATH}`, TMPDIR: tmp });
}

beforeAll(async () => {
  putSlowGit();
  all = await people({
    agent: { permissions: { mode: "accept-edits" } },
    host: { capacity: { max_idle_processes: 0 } },
    ports: { heavyLimits: limits },
  });
  writeFileSync(join(all.api.cwd, "old.txt"), "old\n");
  const environment = { workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } };
  id = await session(all.admin, order(["Write", { file_path: "new.txt", content: "new\n".repeat(1_000) }]), {
    environment,
  });
  listening = await listen(all.api.app, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  // An undefined value would become the word "undefined", for every file that runs after this one.
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  await listening.close();
  await all.api[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

const PATHS = [
  ["GET", "diff", "--numstat"],
  ["GET", "patch", "--binary"],
  ["POST", "export/patch", "--binary"],
  ["POST", "export/zip", "archive"],
] as const;
const isThere = (pid: number): boolean => existsSync(`/proc/${pid}`);

async function slowPid(): Promise<number> {
  await until(
    () => existsSync(pidFile),
    (is) => is,
  );
  const pid = Number(readFileSync(pidFile, "utf8"));
  rmSync(pidFile);
  return pid;
}

test.each(PATHS)("%s %s: stops git when the client disconnects, and frees its slot", async (method, path, command) => {
  writeFileSync(slow, command);
  const headers = { "x-api-key": all.admin.key, host: "127.0.0.1" };
  const asked = request({ port: listening.port, method, path: `/api/sessions/${id}/${path}`, headers });
  asked.on("error", () => {});
  asked.end();
  const pid = await slowPid();
  expect(isThere(pid)).toBe(true);
  asked.destroy();
  await until(
    () => isThere(pid),
    (is) => !is,
  );
  rmSync(slow);
  expect((await all.admin.send(method, `/api/sessions/${id}/${path}`)).status).toBe(200);
  expect(readdirSync(join(directory.path, "tmp")).filter((name) => name.startsWith("capstan-zip-"))).toEqual([]);
});

/** Asks for the changes, and does not wait for them. */
function askForDiff(key: string): ReturnType<typeof request> {
  const headers = { "x-api-key": key, host: "127.0.0.1" };
  const asked = request({ port: listening.port, path: `/api/sessions/${id}/diff`, headers });
  asked.on("error", () => {});
  asked.end();
  return asked;
}

test("a key has one piece of git's work at a time, and another key does not wait for it", async () => {
  writeFileSync(slow, "--numstat");
  rmSync(`${pidFile}.all`, { force: true });
  const first = askForDiff(all.admin.key);
  const firstPid = await slowPid();
  const second = askForDiff(all.admin.key);
  const other = askForDiff(all.viewer.key);
  // There is one more place. It is not taken by the second of the first key.
  const pid = await slowPid();
  other.destroy();
  await until(
    () => isThere(pid),
    (is) => !is,
  );
  expect(readFileSync(`${pidFile}.all`, "utf8").trim().split("\n").map(Number)).toEqual([firstPid, pid]);
  expect(isThere(firstPid)).toBe(true);
  for (const asked of [second, first]) asked.destroy();
  await until(
    () => isThere(firstPid),
    (is) => !is,
  );
  rmSync(slow);
});

test.each(PATHS)("%s %s: what takes too long or gives too much is ended and refused", async (method, path, command) => {
  const ask = (): ReturnType<typeof all.admin.send> => all.admin.send(method, `/api/sessions/${id}/${path}`);
  Object.assign(limits, { bytes: 10, fileBytes: 10 });
  expect(await ask()).toMatchObject({ status: 413, body: { error: { details: { error_code: "too_large" } } } });
  Object.assign(limits, { bytes: 1e6, fileBytes: 1e6, ms: 50 });
  // Whatever git was about to do by then, it is ended as well.
  writeFileSync(slow, command);
  const { status, body } = await ask();
  expect(status).toBe(413);
  expect(body.error.message).toContain("longer than 0.05 s");
  rmSync(slow);
  if (existsSync(pidFile)) expect(isThere(await slowPid())).toBe(false);
  Object.assign(limits, { ms: 600_000 });
  expect((await ask()).status).toBe(200);
  expect(readdirSync(join(directory.path, "tmp")).filter((name) => name.startsWith("capstan-zip-"))).toEqual([]);
});
