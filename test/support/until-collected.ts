import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { until } from "./until.ts";

/** Resolves when no more than so many of the objects are in memory. */
export async function untilCollected(objects: readonly WeakRef<object>[], most: number): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await until(
    () => {
      collect();
      return objects.filter((object) => object.deref() !== undefined).length;
    },
    (left) => left <= most,
  );
}
