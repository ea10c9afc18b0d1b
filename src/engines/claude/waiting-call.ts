import { randomUUID } from "node:crypto";
import type { TranscriptEntry } from "../../core/ports/store.ts";
import { contentBlocks, lastLink } from "./transcript.ts";

/** Makes the CLI run a call from its last answer when it starts. The call passes the gate like any other. */
export function withWaitingCall(entries: readonly TranscriptEntry[], callId: string): readonly TranscriptEntry[] {
  const owner = entries.findLast((entry) => callIn(entry, callId) !== undefined);
  const call = owner && callIn(owner, callId);
  if (owner === undefined || call === undefined) throw new Error(`The transcript does not contain call ${callId}.`);
  const { isSidechain, userType, cwd, sessionId, version } = owner;
  const marker = {
    isSidechain,
    userType,
    cwd,
    sessionId,
    version,
    type: "attachment",
    uuid: randomUUID(),
    parentUuid: lastLink(entries),
    timestamp: new Date().toISOString(),
    attachment: {
      type: "hook_deferred_tool",
      toolUseID: callId,
      toolName: call["name"],
      toolInput: call["input"],
      hookName: "settings",
      hookEvent: "PreToolUse",
      permissionMode: "default",
    },
  };
  return [...entries, marker];
}

function callIn(entry: TranscriptEntry, callId: string): Record<string, unknown> | undefined {
  const message = entry["message"] as { content?: unknown } | undefined;
  return contentBlocks(message?.content).find((block) => block["type"] === "tool_use" && block["id"] === callId);
}
