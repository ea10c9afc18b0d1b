/** Runs the tasks in their order, at most `width` at a time, from the first time that one of them is asked for. */
export function inLanes(tasks: readonly (() => Promise<void>)[], width: number): (index: number) => Promise<void> {
  const ends = tasks.map(() => Promise.withResolvers<void>());
  // Whoever asks for a task is told of its failure; a lane goes on with the next.
  for (const { promise } of ends) promise.catch(() => {});
  let next = 0;
  let started = false;
  const lane = async (): Promise<void> => {
    while (next < tasks.length) {
      const index = next++;
      const task = tasks[index];
      await task?.().then(ends[index]?.resolve, ends[index]?.reject);
    }
  };
  return (index) => {
    if (!started) for (let count = 0; count < width; count += 1) void lane();
    started = true;
    return ends[index]?.promise ?? Promise.reject(new Error(`There is no task ${index}.`));
  };
}
