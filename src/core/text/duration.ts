import { CapstanError } from "../errors.ts";

/** From long to short: the order in which they may be combined. */
const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
const SHAPE = new RegExp(`^${Object.keys(UNITS).reduce((all, unit) => `${all}(?:(\\d+(?:\\.\\d+)?)${unit})?`, "")}$`);

/** Parses a text such as `500ms`, `90s`, `10m`, `1h30m` or `30d` to milliseconds. */
export function parseDuration(text: string): number {
  const trimmed = text.trim();
  const amounts = trimmed === "" ? null : SHAPE.exec(trimmed);
  if (amounts === null)
    throw wrong(text, "Write a number with its unit (d, h, m, s or ms), such as 90s, 10m, 1h30m or 30d.");
  const total = Object.values(UNITS).reduce((sum, unit, index) => sum + Number(amounts[index + 1] ?? 0) * unit, 0);
  const milliseconds = Math.round(total);
  if (!Number.isSafeInteger(milliseconds)) throw wrong(text, "It is too long to count in milliseconds.");
  return milliseconds;
}

function wrong(text: string, remedy: string): CapstanError {
  return new CapstanError("invalid_input", `${JSON.stringify(text)} is not a duration. ${remedy}`, { data: { text } });
}
