import { expect, test } from "vitest";
import { givenInputs, requireCompatible } from "../../src/cli/run/run-flags.ts";

test("--input gives values by name, with whatever comes after the first =", () => {
  const input = ["city=Ulm", "formula=a=b", "empty="];
  expect(givenInputs({ cwd: ".", input })).toEqual({ city: "Ulm", formula: "a=b", empty: "" });
  expect(givenInputs({ cwd: "." })).toEqual({});
});

test.each([
  [["Ulm"], '--input "Ulm" must have the form name=value, such as --input language=German'],
  [["=Ulm"], '--input "=Ulm" must have the form name=value, such as --input language=German'],
  [["city=Ulm", "city=Bonn"], "--input city appears twice. Give it once."],
])("--input %j is refused", (input, message) => {
  expect(() => givenInputs({ cwd: ".", input })).toThrow(message);
});

test("a session that goes on has got its inputs", () => {
  expect(() => requireCompatible({ cwd: ".", resume: "x", input: ["city=Ulm"] })).toThrow(/--input cannot be changed/);
});
