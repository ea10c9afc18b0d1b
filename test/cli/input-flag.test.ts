import { expect, test } from "vitest";
import { givenInputs, requireFitting } from "../../src/cli/run/run-flags.ts";

test("--input gives values by name, with whatever comes after the first =", () => {
  const input = ["city=Ulm", "formula=a=b", "empty="];
  expect(givenInputs({ cwd: ".", input })).toEqual({ city: "Ulm", formula: "a=b", empty: "" });
  expect(givenInputs({ cwd: "." })).toEqual({});
});

test.each([
  [["Ulm"], '--input "Ulm" must be name=value, such as --input language=German'],
  [["=Ulm"], '--input "=Ulm" must be name=value, such as --input language=German'],
  [["city=Ulm", "city=Bonn"], "--input city is given twice. Give it once."],
])("--input %j is refused", (input, message) => {
  expect(() => givenInputs({ cwd: ".", input })).toThrow(message);
});

test("a session that goes on has got its inputs", () => {
  expect(() => requireFitting({ cwd: ".", resume: "x", input: ["city=Ulm"] })).toThrow(/--input cannot be changed/);
});
