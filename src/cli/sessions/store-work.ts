import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { restoreFrom } from "../../app/open-store.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { usageError } from "../terminal/failure.ts";
import { userStore } from "../target/home.ts";
import { deleteAll } from "./session-files.ts";
import { ago, shortId, table } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export async function backup(file: string): Promise<void> {
  if (existsSync(file)) throw usageError(`${file} already exists. Choose another name, or remove it.`);
  await using store = await userStore();
  await store.backup(resolve(file));
  process.stdout.write(`Store copied to ${file}. To restore it: capstan restore ${file}\n`);
}

export async function restore(file: string): Promise<void> {
  if (!existsSync(file)) throw usageError(`File not found: ${file}`);
  const { keptAs } = await restoreFrom(homeDirectory(process.env).path, resolve(file));
  const kept = keptAs === undefined ? "" : ` The old store is now ${keptAs}.`;
  process.stdout.write(`Store restored from ${file}.${kept}\n`);
}

export async function pruneStore(flags: {
  readonly olderThan: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}): Promise<void> {
  const inactiveSince = Date.now() - parseDuration(flags.olderThan);
  await using store = await userStore();
  // A session with a running turn is never pruned.
  const old = (await store.sessions({ inactiveSince })).filter(
    ({ status }) => status !== "running" && status !== "rescheduling",
  );
  if (old.length === 0) {
    if (flags.json !== true) process.stdout.write(`No session has been inactive for ${flags.olderThan}.\n`);
    return;
  }
  if (flags.json === true) process.stdout.write(old.map((session) => `${hiddenFreeJson(session)}\n`).join(""));
  else
    process.stdout.write(
      `${table(
        ["SESSION", "ACTIVE", "ABOUT"],
        old.map((session) => [
          shortId(session.id),
          ago(Date.now() - session.lastActivityAt),
          session.title ?? session.firstMessage,
        ]),
      )}\n`,
    );
  if (flags.yes === true)
    await deleteAll(
      old.map(({ id }) => id),
      { quiet: flags.json === true },
    );
  else
    process.stderr.write(
      `\nNothing was erased. To erase ${old.length === 1 ? "it" : `these ${old.length}`}, add --yes.\n`,
    );
}
