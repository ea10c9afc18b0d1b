import { setTimeout as sleep } from "node:timers/promises";

/** Looks again and again until it sees what it waits for; the test's own limit ends it otherwise. */
export async function until<T>(look: () => Promise<T> | T, done: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (done(value)) return value;
    await sleep(50);
  }
}
