import { monitorEventLoopDelay } from "node:perf_hooks";

/** Milliseconds between two measurements. */
const RESOLUTION = 20;
const WINDOW = 5_000;
const NANOSECONDS = 1_000_000;

let watched: (() => number) | undefined;

/**
 * Milliseconds: how late this process was in the worst tenth of the last seconds. All hosts of a process share one
 * event loop, so it is measured once, starting with the first call.
 */
export function loopDelay(): number {
  watched ??= watchLoop(WINDOW);
  return watched();
}

/** The figure is for the last complete window. It never keeps a process alive. */
export function watchLoop(windowMs: number): () => number {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  let last = 0;
  setInterval(() => {
    // Measurements are this far apart anyway.
    last = delays.count === 0 ? 0 : Math.max(0, delays.percentile(90) / NANOSECONDS - RESOLUTION);
    delays.reset();
  }, windowMs).unref();
  return () => last;
}
