import { monitorEventLoopDelay } from "node:perf_hooks";

/** In milliseconds: how often the loop is looked at, and what one figure is about. */
const RESOLUTION = 20;
const WINDOW = 5_000;
const NANOSECONDS = 1_000_000;

let watched: (() => number) | undefined;

/**
 * In milliseconds: by how much this process was late in the worst tenth of the last seconds. There is one loop for all
 * hosts of a process, so it is watched once, from the first question on.
 */
export function loopDelay(): number {
  watched ??= watchLoop(WINDOW);
  return watched();
}

/** What is read is about the last whole window. It never keeps a process alive. */
export function watchLoop(windowMs: number): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  let last = 0;
  setInterval(() => {
    // What is measured is from one look to the next, and they are that far apart anyhow.
    last = delays.count === 0 ? 0 : Math.max(0, delays.percentile(90) / NANOSECONDS - RESOLUTION);
    delays.reset();
  }, windowMs).unref();
  return () => last;
}
