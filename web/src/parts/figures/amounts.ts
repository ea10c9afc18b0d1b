/** Money, tokens, sizes and times as people read them. */

/** Made when it is first needed: the first format of a page costs more time than a whole list of them. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const whole = once(() => new Intl.NumberFormat("en-US"));

/** Small amounts keep the digits that make them different from nothing. */
export function usd(amount: number): string {
  if (amount === 0) return "$0";
  const digits = amount < 0.01 ? 4 : amount < 1 ? 3 : 2;
  return amount < 0.000_1 ? "<$0.0001" : `$${amount.toFixed(digits)}`;
}

export function tokens(count: number): string {
  if (count < 10_000) return whole().format(count);
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(2)}M`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  return count < 1_048_576 ? `${(count / 1_024).toFixed(1)} KiB` : `${(count / 1_048_576).toFixed(1)} MiB`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.floor(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const dayOnly = once(() => new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", year: "numeric" }));

/** How long ago. A server whose clock is ahead of the browser's does not make things happen in the future. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, (now - at) / 1_000);
  if (seconds < 45) return "just now";
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 79_200) return `${Math.round(seconds / 3_600)} h ago`;
  if (seconds < 2_592_000) return `${Math.round(seconds / 86_400)} d ago`;
  return dayOnly().format(at);
}
