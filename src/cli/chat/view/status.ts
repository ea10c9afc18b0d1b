import { DEFAULT_ENGINE } from "../../../core/agent/engine-name.ts";
import { compactCount } from "../../../words/amounts.ts";
import { cost } from "../../follow/cost.ts";
import { colour, money, oneLine, shortId } from "../../terminal/text.ts";
import type { Meter } from "./meter.ts";

/** What the last line of a chat tells. */
export interface Status {
  readonly sessionId: string | undefined;
  readonly model: string;
  readonly engine: string;
  readonly mode: string;
  readonly meter: Pick<Meter, "context" | "spent">;
  readonly maxUsd: number | undefined;
  readonly isRehearsal: boolean;
}

/** As much of it as fits: the less it is needed, the sooner it is left out. */
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
  return colour.dim(oneLine(fitting, width - 1));
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

/** That nothing here costs anything is said from the beginning. */
function moneyText({ meter: { spent }, maxUsd, isRehearsal }: Status): string {
  const isUnused = isRehearsal && spent.rehearsalUsd === 0;
  const paid = spent.usd === 0 ? "" : `${cost(spent)} + `;
  const used = isUnused ? `${paid}${money(0)} rehearsal` : cost(spent);
  return maxUsd === undefined ? used : `${used} of ${money(maxUsd)}`;
}

/**
 * How many tokens a model can see at once, as the pinned Agent SDK counts: a million, but for older models without the
 * mark that asks for it.
 */
export function contextWindow(model: string): number {
  if (model.includes("[1m]")) return 1_000_000;
  return /claude-[23]|(?:sonnet|haiku)-4|opus-4(?:-[0-6](?!\d)|-20|$)/.test(model) ? 200_000 : 1_000_000;
}
