import { usage } from "../terminal/failure.ts";

/** kB to TB are powers of 1000; KiB to TiB powers of 1024. */
const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Parses a size such as `500MB` or `1.5 GiB` to bytes. */
export function parseSize(text: string): number {
  const [, amount = "", unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(text) ?? [];
  const size = UNITS[unit.toLowerCase()];
  if (size === undefined)
    throw usage(`${JSON.stringify(text)} is not a size. Use a number with a unit, such as 500MB or 1.5GB.`);
  return Math.round(Number(amount) * size);
}

const SHOWN: readonly (readonly [unit: string, size: number])[] = [
  ["TB", 1e12],
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
];

export function sizeText(bytes: number): string {
  // 999.95 kB rounds to 1000 kB, so it is shown as 1.0 MB.
  const [unit, size] = SHOWN.find(([, least]) => bytes >= least * 0.9995) ?? ["B", 1];
  const amount = bytes / size;
  return `${unit === "B" || amount >= 99.95 ? Math.round(amount) : amount.toFixed(1)} ${unit}`;
}
