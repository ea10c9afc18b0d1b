import type { Checkpoint } from "../../core/session/checkpoint-list.ts";
import { noCheckpoint } from "./diff.ts";
import { callText } from "./diff-view.ts";
import { ago, count, shortId, table } from "../terminal/text.ts";
import { sessionFiles } from "../target/workspaces-session.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export async function checkpoints(given: string | undefined, flags: { readonly json?: boolean }): Promise<void> {
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  const all = await files.checkpoints(sessionId);
  if (flags.json === true) return all.forEach((one) => print(hiddenFreeJson(one)));
  if (all.length === 0) return print(noCheckpoint(sessionId));
  // Saves room: most checkpoints are complete.
  const isPartial = all.some(({ leftOut }) => leftOut > 0);
  const rows = all.map((one, index) => [
    shortId(one.id),
    ago(Date.now() - Date.parse(one.at)),
    String(one.turn),
    index === 0 ? "start" : changesText(one),
    ...(isPartial ? [one.leftOut === 0 ? "" : count(one.leftOut)] : []),
    [whyText(one), afterText(one)].filter(Boolean).join("; "),
  ]);
  const leftOut = isPartial ? ["OMITTED"] : [];
  print(table(["CHECKPOINT", "TAKEN", "TURN", "FILES", ...leftOut, "WHY"], rows));
  const session = shortId(sessionId);
  print(`\nShow changes since a checkpoint: capstan diff ${session} --since CHECKPOINT`);
  print(`Return to a checkpoint: capstan rewind ${session} --to CHECKPOINT`);
}

/** Files added, modified and deleted since the previous checkpoint. */
function changesText({ added, modified, deleted }: Checkpoint): string {
  const parts = [`+${added}`, `~${modified}`, `-${deleted}`].filter((part) => !part.endsWith("0") || part.length > 2);
  return parts.join(" ");
}

export function whyText({ reason, before, calls }: Checkpoint): string {
  switch (reason) {
    case "call_end":
      return calls.length === 0 ? "after a call" : `after ${calls.map(callText).join(" | ")}`;
    case "call":
      return before === undefined ? "before a call" : `before ${callText(before)}`;
    case "turn_end":
      return "end of the turn";
    case "rewind":
      return "before a rewind";
    case "request":
      return "for an export";
  }
}

function afterText({ reason, calls }: Checkpoint): string {
  return calls.length === 0 || reason === "call_end" ? "" : `after ${calls.map(callText).join(" | ")}`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
