import type { WireBudgetLine, WireBudgets } from "../../../src/client/index.ts";
import { money, thousands } from "../../../src/words/amounts.ts";

/** The default share at which to warn. */
const NEARLY = 0.8;

export interface Meter {
  readonly line: WireBudgetLine;
  /** Spent and reserved, as a share of the limit; above 1 if responses cost more than estimated. */
  readonly share: number;
  readonly state: "fine" | "nearly" | "spent";
}

export function meterOf(line: WireBudgetLine, settings: WireBudgets["settings"]): Meter {
  const share = (line.spent + line.reserved) / line.limit;
  const limits = line.scope === "agent" ? settings.agents?.[line.name] : settings[line.scope];
  const warnAt = limits?.warn_at ?? NEARLY;
  return { line, share, state: line.left <= 0 ? "spent" : share >= warnAt ? "nearly" : "fine" };
}

/** An amount without its unit, except for money. */
export function figureOf(which: WireBudgetLine["which"], amount: number): string {
  return which === "usd" ? money(amount) : thousands(amount);
}

/** The same with its unit. */
export function amountOf(which: WireBudgetLine["which"], amount: number): string {
  const unit = UNITS[which];
  return unit === undefined ? figureOf(which, amount) : `${figureOf(which, amount)} ${unit}`;
}

const UNITS: Partial<Record<WireBudgetLine["which"], string>> = {
  tokens: "tokens",
  input_tokens: "input tokens",
  output_tokens: "output tokens",
  cache_tokens: "cache tokens",
  turns: "turns",
  tool_calls: "tool calls",
};

export function nameOfLimit({ scope, name, day }: WireBudgetLine): string {
  if (scope === "agent") return `Agent ${name}`;
  return scope === "day" ? `Today${day === undefined ? "" : `, ${day}`}` : "Project total";
}
