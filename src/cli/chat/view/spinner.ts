const MARKS = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
export const SPIN_MS = 120;

/** A sign of life that depends on nothing but the time. */
export function spinner(now: number): string {
  return MARKS[Math.floor(now / SPIN_MS) % MARKS.length] ?? "";
}
