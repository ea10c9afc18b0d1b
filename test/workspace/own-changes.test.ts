import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { OwnStep } from "../../src/core/session/checkpoint-list.ts";
import { type ShadowWorkspace, shadowWorkspace, treeOf } from "./shadow-workspace.ts";

const TIMEOUT_MS = 120_000;

interface Happening {
  readonly by: "session" | "others";
  readonly name: string;
  readonly how: "write" | "remove" | "chmod";
}

const happening: fc.Arbitrary<Happening> = fc.record({
  by: fc.constantFrom("session", "others"),
  name: fc.constantFrom("a", "b", "dir/c", "größe\n", "-d"),
  how: fc.constantFrom("write", "write", "write", "remove", "chmod"),
});

/** As `treeOf` names it. */
function key(name: string): string {
  return Buffer.from(name).toString("latin1");
}

/** Every write is a content of its own, so that nobody makes by chance what was there before. */
function act(place: ShadowWorkspace, { name, how }: Happening, turn: number): void {
  const path = place.path(name);
  mkdirSync(dirname(path), { recursive: true });
  if (how === "write") writeFileSync(path, `${turn}\n`);
  else if (how === "remove") rmSync(path, { force: true });
  else if (existsSync(path)) chmodSync(path, turn % 2 === 0 ? 0o600 : 0o640);
}

test(
  "taking a session's steps back changes no file that others changed, and brings its own back",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(happening, { minLength: 2, maxLength: 7 }), async (all) => {
        using place = shadowWorkspace({ kind: "in-place" });
        for (const name of ["a", "dir/c"]) act(place, { by: "others", name, how: "write" }, 1_000);
        let last = (await place.keep()).commit;
        const start = treeOf(place.cwd);
        const steps: OwnStep[] = [];
        const touched = { session: new Set<string>(), others: new Set<string>() };
        for (const [turn, one] of all.entries()) {
          act(place, one, turn);
          const taken = await place.workspace.checkpoint(last);
          if (taken === undefined) continue;
          touched[one.by].add(one.name);
          if (one.by === "session") steps.push({ from: last, to: taken.commit, unsure: false });
          last = taken.commit;
        }
        const before = treeOf(place.cwd);
        const { commit, conflicts } = await place.workspace.takenBack(steps, last);
        for (const name of conflicts)
          expect([touched.session.has(name), touched.others.has(name)], name).toEqual([true, true]);
        expect((await place.workspace.takenBack(steps)).commit).toBe(commit);
        await place.workspace.restore(commit, last);
        const after = treeOf(place.cwd);
        for (const name of touched.others)
          if (!touched.session.has(name)) expect(after.get(key(name))).toBe(before.get(key(name)));
        for (const name of touched.session)
          if (!touched.others.has(name)) expect(after.get(key(name))).toBe(start.get(key(name)));

        const { from, to } = await place.workspace.ownChanges(steps);
        const listed = (await place.workspace.diff({ from, to })).map(({ path }) => path);
        for (const path of listed) expect(touched.session.has(path), path).toBe(true);
      }),
      { numRuns: 12, seed: 7 },
    );
  },
  TIMEOUT_MS,
);

test("a change between two steps of the session, and one after them, are conflicts; what is back as it was is none", async () => {
  using place = shadowWorkspace({ kind: "in-place" });
  const put = (name: string, content: string): void => writeFileSync(place.path(name), content);
  for (const name of ["between", "after", "back"]) put(name, "0\n");
  const start = (await place.keep()).commit;
  for (const name of ["between", "after", "back"]) put(name, "1\n");
  const one = (await place.keep(start)).commit;
  put("between", "2\n");
  const two = (await place.keep(one)).commit;
  put("between", "3\n");
  const three = (await place.keep(two)).commit;
  put("after", "4\n");
  put("back", "0\n");
  const steps = [
    { from: start, to: one, unsure: false },
    { from: two, to: three, unsure: false },
  ];
  expect((await place.workspace.takenBack(steps)).conflicts).toEqual(["after", "between"]);
  const unsure = steps.map((step) => ({ ...step, unsure: true }));
  expect((await place.workspace.takenBack(unsure, three)).conflicts).toEqual(["after", "back", "between"]);
});

test("a file that comes back does not take away what others put where it was", async () => {
  using place = shadowWorkspace({ kind: "in-place" });
  writeFileSync(place.path("name"), "a file\n");
  const start = (await place.keep()).commit;
  rmSync(place.path("name"));
  mkdirSync(place.path("name"));
  writeFileSync(place.path("name/own"), "own\n");
  const end = (await place.keep(start)).commit;
  writeFileSync(place.path("name/others"), "others\n");
  const { conflicts } = await place.workspace.takenBack([{ from: start, to: end, unsure: false }]);
  expect(conflicts).toEqual(["name/others"]);
});
