import type { Store } from "../../../src/core/store.ts";

/** Die at the n-th append to the log. */
export interface CrashPoint {
  readonly append: number;
  readonly when: "before" | "after";
}

/** The real store, with a crash point around its appends. */
export function crashing(store: Store, crash: CrashPoint | undefined): { store: Store; appends: () => number } {
  let appends = 0;
  const append: Store["append"] = async (...given) => {
    appends += 1;
    const number = appends;
    if (crash?.append === number && crash.when === "before") die();
    const stored = await store.append(...given);
    if (crash?.append === number && crash.when === "after") die();
    return stored;
  };
  return { store: { ...store, append }, appends: () => appends };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment; nothing may happen in it.
  for (;;);
}
