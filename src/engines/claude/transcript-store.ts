import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SessionStore, SessionStoreEntry } from "@anthropic-ai/claude-agent-sdk";
import { uuidOf } from "../../core/ports/clock.ts";
import type { EngineRequest } from "../../core/ports/engine.ts";
import type { TranscriptStore } from "../../core/ports/store.ts";

/**
 * Implements the SDK's session store on our store. Keyed by session alone, so that any directory or machine can resume.
 */
export function sessionStoreFor(sessionId: string, transcripts: TranscriptStore, root: string): SessionStore {
  const pathOf = (subpath: string | undefined): string => [root, subpath ?? ""].filter(Boolean).join("/");
  return {
    append: (key, entries) => transcripts.append(sessionId, pathOf(key.subpath), entries),
    load: async (key) => {
      const entries = await transcripts.load(sessionId, pathOf(key.subpath));
      return entries.length === 0 ? null : (entries as SessionStoreEntry[]);
    },
    listSubkeys: async () => {
      const paths = await transcripts.paths(sessionId);
      if (root === "") return paths.filter((path) => !path.startsWith(LINES));
      return paths.flatMap((path) => (path.startsWith(`${root}/`) ? [path.slice(root.length + 1)] : []));
    },
  };
}

/** Prefix for transcripts of subagents that were driven alone. */
const LINES = "lines/";

/** The session's own transcript, or the one of the single thread that the process drives. */
export function transcriptPath({ line }: Pick<EngineRequest, "line">): string {
  return line === undefined ? "" : LINES + line.threadId;
}

/** The CLI's id for the conversation. Each thread has its own, always the same. */
export function transcriptUuid({ sessionId, line }: Pick<EngineRequest, "sessionId" | "line">): string {
  return line === undefined
    ? uuidOf(sessionId)
    : uuidOf(`line_${createHash("sha256").update(line.threadId).digest("hex")}`);
}

/**
 * A conversation rewound to its beginning restarts under its old id, which the CLI refuses while its own file with that
 * name exists.
 */
export function forgetLocalCopy(request: Parameters<typeof transcriptUuid>[0] & Pick<EngineRequest, "stateDir">): void {
  const projects = join(request.stateDir, "config", "projects");
  if (!existsSync(projects)) return;
  for (const project of readdirSync(projects))
    rmSync(join(projects, project, `${transcriptUuid(request)}.jsonl`), { force: true });
}
