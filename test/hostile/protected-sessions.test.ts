import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ofType } from "../support/host.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { type Call, makeCalls, repository } from "../support/yolo-agent.ts";

/** Lines that lead to Capstan's home without naming it, and one that goes where only the shell knows. */
const LINES = [
  "cp a.txt ~/../../../config.yaml",
  "x=-; cd $x; cp a.txt config.yaml",
  "HOME=$PWD/..; cp a.txt ~/home/config.yaml",
  'd="${HOME%/*/*/*}"; cp a.txt "$d/config.yaml"',
  "read -r x <<< ../home; cp a.txt $x/config.yaml",
  "find .. -maxdepth 1 -name 'h*' -exec cp a.txt {}/config.yaml ';'",
];
const calls: readonly Call[] = LINES.map((command) => ["Bash", { command }]);

test("an agent in yolo mode does not reach Capstan's home by a path that only its shell knows", async () => {
  using place = repository();
  const asked: string[] = [];
  const settings = join(place.base, "home", "config.yaml");
  const again: Call = ["Bash", { command: LINES[0] }];
  const { events } = await makeCalls([...calls, again], place, {
    askPermission: ({ input, remember }) => {
      expect([remember, existsSync(settings)]).toEqual([[], false]);
      asked.push(String(input["command"]));
      return { behavior: asked.length > LINES.length ? "allow" : "deny", by: "person" };
    },
  });
  expect(asked).toEqual([...LINES, LINES[0]]);
  expect(existsSync(place.at("config.yaml"))).toBe(false);
  const decisions = ofType(events, "capstan.permission_decided").map(({ decision }) => decision);
  expect(decisions).toEqual([...LINES.map(() => "deny"), "allow"]);
  // The person allowed the last one: the path is a real one.
  expect(readFileSync(settings, "utf8")).toBe("a");
});

sandboxTest("in the sandbox the same lines ask, and write nothing even when a person allows them", async () => {
  using place = repository();
  const asked: string[] = [];
  await makeCalls(calls, place, {
    askPermission: ({ input }) => {
      asked.push(String(input["command"]));
      return { behavior: "allow", by: "person" };
    },
    environment: { sandbox: { mode: "required", auto_allow_sandboxed: true } },
  });
  expect(asked).toEqual(LINES);
  expect(existsSync(join(place.base, "home", "config.yaml"))).toBe(false);
});
