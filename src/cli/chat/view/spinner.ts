const MARKS = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
export const SPIN_MS = 120;

/** The spinner's character at a given time. */
export function spinner(now: number): string {
  return MARKS[Math.floor(now / SPIN_MS) % MARKS.length] ?? "";
}
