import { once } from "node:events";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

/** A process that, once told to go, opens and closes the stores at the given paths, one after the other. */

console.log("ready");
await once(process.stdin, "data");
process.stdin.destroy();

for (const path of process.argv.slice(2)) {
  const store = await openSqliteStore({ path, clock: { now: () => Date.now() } });
  await store[Symbol.asyncDispose]();
}
