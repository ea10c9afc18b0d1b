import { usageError } from "../terminal/failure.ts";

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
    throw usageError(`${JSON.stringify(text)} is not a size. Use a number with a unit, such as 500MB or 1.5GB.`);
  return Math.round(Number(amount) * size);
}
