import { DEFAULT_ENGINE } from "../../../core/agent/engine-name.ts";
import { compactCount } from "../../../words/amounts.ts";
import { costText } from "../../follow/cost.ts";
import { color, money, oneLine, shortId } from "../../terminal/text.ts";
import type { Meter } from "./meter.ts";

/** The contents of a chat's status line. */
export interface Status {
  readonly sessionId: string | undefined;
  readonly model: string;
  readonly engine: string;
  readonly mode: string;
  readonly meter: Pick<Meter, "context" | "spent">;
  readonly maxUsd: number | undefined;
  readonly isRehearsal: boolean;
}

/** Leaves out the least important parts to fit the width. */
export function statusLine(status: Status, width: number): string {
  const { sessionId, model, engine, mode } = status;
  const name = model.replace(/^claude-/, "");
  const named = engine === DEFAULT_ENGINE ? name : `${name} on ${engine}`;
  const context = contextText(status);
  const money = moneyText(status);
  const share = context?.share;
  const id = sessionId === undefined ? [] : [`session ${shortId(sessionId)}`];
  const versions: (string | undefined)[][] = [
    [named, mode, context?.long, money, ...id],
    [named, mode, context?.long, money],
    [name, mode, context?.long, money],
    [name, mode, context?.short, money],
    [mode, share, money],
    [mode, share ?? (status.isRehearsal ? "rehearsal" : undefined)],
  ];
  const texts = versions.map((parts) => parts.filter((part) => part !== undefined).join(" · "));
  const fitting = texts.find((text) => text.length < width) ?? oneLine(mode, width - 1);
  return color.dim(oneLine(fitting, width - 1));
}

function contextText({ meter: { context }, model }: Status): Record<"long" | "short" | "share", string> | undefined {
  if (context === undefined) return undefined;
  const window = contextWindow(model);
  const share = `${Math.round((100 * context) / window)}%`;
  return {
    long: `context ${compactCount(context)} of ${compactCount(window)} (${share})`,
    short: `context ${share}`,
    share,
  };
}

/** Shows from the start that a rehearsal costs nothing. */
function moneyText({ meter: { spent }, maxUsd, isRehearsal }: Status): string {
  const isUnused = isRehearsal && spent.rehearsalUsd === 0;
  const paid = spent.usd === 0 ? "" : `${costText(spent)} + `;
  const used = isUnused ? `${paid}${money(0)} rehearsal` : costText(spent);
  return maxUsd === undefined ? used : `${used} of ${money(maxUsd)}`;
}

/** A model's context window in tokens, as in the pinned Agent SDK: a million, except for older models without [1m]. */
export function contextWindow(model: string): number {
  if (model.includes("[1m]")) return 1_000_000;
  return /claude-[23]|(?:sonnet|haiku)-4|opus-4(?:-[0-6](?!\d)|-20|$)/.test(model) ? 200_000 : 1_000_000;
}
