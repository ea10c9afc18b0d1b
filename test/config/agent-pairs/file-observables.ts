import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { workspacesIn } from "../../../src/app/host/workspaces.ts";
import type { Observe } from "./observables.ts";

let sessionNumber = 0;

/** The files of a workspace that is really made, and how much of the history came with them, or why it is not made. */
export const workspace: Observe = async ({ loaded: { sessionEnvironment }, cwd, scratch }) => {
  const sessionId = `sesn_${(sessionNumber += 1)}`;
  const request = { sessionId, source: cwd, workspace: sessionEnvironment.workspace };
  const made = await workspacesIn(scratch, []).prepare(request);
  const files = made.cwd === cwd ? [] : readdirSync(made.cwd, { recursive: true, encoding: "utf8" }).toSorted();
  const seen = files
    .filter((name) => !/(^|\/)\.git\//.test(name))
    .map((name) => [name, statSync(join(made.cwd, name)).mode]);
  const text = JSON.stringify({ ...made, seen, commits: commitsIn(made.cwd) });
  return text.replaceAll(sessionId, "session");
};

function commitsIn(directory: string): string | undefined {
  if (!existsSync(join(directory, ".git"))) return undefined;
  return execFileSync("git", ["rev-list", "--count", "HEAD"], { cwd: directory, encoding: "utf8" });
}

/** What a checkpoint keeps of some files and what it leaves out, or why there is none. */
export const checkpoint: Observe = async ({ loaded: { sessionEnvironment }, cwd, scratch }) => {
  const files = join(cwd, "files");
  const place = { sessionId: "sesn_1", kind: "in-place", cwd: files, source: files } as const;
  const taken = await workspacesIn(scratch, []).open(place, sessionEnvironment.checkpoints).checkpoint(undefined);
  return { kept: taken?.added, leftOut: taken?.leftOut };
};
