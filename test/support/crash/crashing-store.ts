import type { Store } from "../../../src/core/ports/store.ts";

/** Die at the n-th append to the log, or to the transcript of the engine. */
export interface CrashPoint {
  /** Default: the log. */
  readonly to?: "log" | "transcript";
  readonly append: number;
  readonly when: "before" | "after";
}

/** The real store, with a crash point around its appends. */
export function crashing(
  store: Store,
  crash: CrashPoint | undefined,
): {
  store: Store;
  appends: () => Readonly<Record<"log" | "transcript", number>>;
} {
  const appends = { log: 0, transcript: 0 };
  const counted = async <Stored>(to: keyof typeof appends, append: () => Promise<Stored>): Promise<Stored> => {
    appends[to] += 1;
    const isPoint = (crash?.to ?? "log") === to && crash?.append === appends[to];
    if (isPoint && crash.when === "before") die();
    const stored = await append();
    if (isPoint && crash.when === "after") die();
    return stored;
  };
  const { transcripts } = store;
  return {
    store: {
      ...store,
      append: (...given) => counted("log", () => store.append(...given)),
      transcripts: {
        ...transcripts,
        append: (...given) => counted("transcript", () => transcripts.append(...given)),
        replace: (...given) => counted("transcript", () => transcripts.replace(...given)),
      },
    },
    appends: () => appends,
  };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment; nothing may happen in it.
  for (;;);
}
