import { randomBytes } from "node:crypto";
import type { Clock, Ids } from "../core/ports/clock.ts";

export const clock: Clock = { now: () => Date.now() };

let lastTime = 0;
let counter = 0;

/** UUIDs of version 7: sortable by time, and in order of making within one process, also when the clock jumps back. */
export const ids: Ids = {
  next(kind) {
    const now = Math.max(Date.now(), lastTime);
    counter = now === lastTime ? counter + 1 : 0;
    lastTime = now;
    const time = now.toString(16).padStart(12, "0");
    const order = (0x7000 | (counter & 0xfff)).toString(16);
    const random = randomBytes(8);
    random[0] = 0x80 | ((random[0] ?? 0) & 0x3f);
    return `${kind}_${time}${order}${random.toString("hex")}`;
  },
};
