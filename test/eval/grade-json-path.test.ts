import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkJsonPath, valuesAt } from "../../src/core/suite/json-path.ts";

const DOCUMENT = {
  items: [{ name: "bolt", tags: ["a", "b"] }, { name: "nut" }],
  "a name": { "it's": 1, "b.c": 2 },
  größe: 3,
  none: null,
};

test.for<readonly [path: string, values: readonly unknown[]]>([
  ["$", [DOCUMENT]],
  ["$.items[0].name", ["bolt"]],
  ["$['items'][1]['name']", ["nut"]],
  ["$.items[-1].name", ["nut"]],
  ["$.items[2]", []],
  ["$.items[-3]", []],
  ["$.items[*].name", ["bolt", "nut"]],
  ["$.items.*.name", ["bolt", "nut"]],
  ["$..name", ["bolt", "nut"]],
  ["$..[0]", [DOCUMENT.items[0], "a"]],
  ["$.items..*", [...DOCUMENT.items, "bolt", ["a", "b"], "a", "b", "nut"]],
  ['$["a name"]["b.c"]', [2]],
  [String.raw`$['a name']['it\'s']`, [1]],
  ["$.größe", [3]],
  ["$.none", [null]],
  ["$.none.more", []],
  ["$.items.name", []],
  ["$.items.length", []],
  ["$.constructor", []],
  ["$.__proto__", []],
])("%s", ([path, values]) => {
  expect(valuesAt(DOCUMENT, path)).toEqual(values);
});

test.for(["", "items", "$items", "$.", "$..", "$.a[", "$.a[b]", "$.a[1:2]", "$.a[?@.b]", "$.a['b]", "$.a b", "$[1,2]"])(
  "%j is refused",
  (path) => {
    expect(() => checkJsonPath(path)).toThrow(/expected|must start with/);
  },
);

test("every key and every place can be named", () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.integer(), { minLength: 1 }), fc.nat(), (key, list, place) => {
      const index = place % list.length;
      const path = `$['${key.replaceAll(/['\\]/g, String.raw`\$&`)}'][${index}]`;
      expect(valuesAt({ [key]: list }, path)).toEqual([list[index]]);
    }),
  );
});
