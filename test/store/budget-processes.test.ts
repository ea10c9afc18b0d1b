import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { start } from "./program.ts";
import type { ReserverTask } from "./reserver.ts";
import { temporaryDirectory } from "./temporary.ts";

test("processes that spend under one budget at once use it up and never pass it", async () => {
  await using temporary = await temporaryDirectory();
  const path = join(temporary.path, "capstan.db");
  const usd = 60;
  await using stack = new AsyncDisposableStack();
  const programs = await Promise.all(
    ["sesn_1", "sesn_2", "sesn_3"].map(async (sessionId) => {
      const task: ReserverTask = { path, sessionId, usd };
      return stack.use(await start(new URL("./reserver.ts", import.meta.url), [JSON.stringify(task)]));
    }),
  );
  for (const program of programs) program.go();
  const spent = await Promise.all(programs.map(async (program) => Number(await program.line())));
  await Promise.all(programs.map((program) => program.finish()));
  expect(spent.reduce((sum, one) => sum + one, 0)).toBe(usd);
  await using store = await openSqliteStore({ path, clock: { now: () => Date.now() } });
  expect(await store.ledger.lines({ by: "project" })).toMatchObject([{ usd, requests: usd }]);
});
