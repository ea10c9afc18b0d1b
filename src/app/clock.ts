import { randomFillSync } from "node:crypto";
import type { Clock, Ids } from "../core/ports/clock.ts";

export const clock: Clock = { now: () => Date.now() };

/** Random bytes are fetched in bulk: each call costs far more than the few bytes of one id. */
const POOL_BYTES = 4_096;
const RANDOM_BYTES = 8;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

function randomHex(): string {
  if (used === POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, (used += RANDOM_BYTES));
  random[0] = 0x80 | ((random[0] ?? 0) & 0x3f);
  return random.toString("hex");
}

let lastTime = 0;
let counter = 0;

/** UUIDs of version 7: sortable by time, and in creation order within one process, even if the clock jumps back. */
export const ids: Ids = {
  next(kind) {
    const now = Math.max(Date.now(), lastTime);
    counter = now === lastTime ? counter + 1 : 0;
    lastTime = now;
    const time = now.toString(16).padStart(12, "0");
    const order = (0x7000 | (counter & 0xfff)).toString(16);
    return `${kind}_${time}${order}${randomHex()}`;
  },
};
