import { describe, expect, test } from "vitest";
import { elicitationInput, elicitedContent, formFields } from "../../src/core/session/elicitation.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    weight: { type: "number" },
    member: { type: "boolean" },
    mail: { type: "string", format: "email" },
    born: { type: "string", format: "date" },
    colour: {
      type: "string",
      oneOf: [
        { const: "r", title: "Red" },
        { const: "b", title: "Blue" },
      ],
    },
    days: { type: "array", items: { type: "string", enum: ["mon", "tue"] }, minItems: 1 },
    size: { type: "string", enum: ["s", "m"], default: "m" },
  },
  required: ["name"],
};
const input = elicitationInput({ server: "s", message: "m", requested: { kind: "form", schema } });

describe("the answer to a form of an MCP server", () => {
  test("is turned into the types the server asked for; what was left out is not there, or is the default", () => {
    const answers = { name: "Ada", age: "36", weight: "1.5", member: "No", colour: "b", days: "mon, tue", mail: "" };
    expect(elicitedContent(input, answers)).toEqual({
      content: { name: "Ada", age: 36, weight: 1.5, member: false, colour: "b", days: ["mon", "tue"], size: "m" },
    });
  });

  test.each([
    [{}, /name: missing/],
    [{ name: "" }, /name: expected at least 2 characters/],
    [{ name: "Augusta" }, /name: expected at most 5 characters/],
    [{ name: "Ada", age: "1.5" }, /age: expected a whole number \(found "1\.5"\)/],
    [{ name: "Ada", age: " " }, /age: expected a whole number/],
    [{ name: "Ada", age: "-1" }, /age: expected at least 0/],
    [{ name: "Ada", age: "1000" }, /age: expected at most 150/],
    [{ name: "Ada", weight: "Infinity" }, /weight: expected a number/],
    [{ name: "Ada", member: "perhaps" }, /member: expected true or false/],
    [{ name: "Ada", mail: "nowhere" }, /mail: expected text in the format email/],
    [{ name: "Ada", born: "2026-13-01" }, /born: expected text in the format date/],
    [{ name: "Ada", colour: "Red" }, /colour: expected one of r, b/],
    [{ name: "Ada", days: "mon,sun" }, /days: expected some of mon, tue/],
    [{ name: "Ada", days: "," }, /days: expected at least 1 choices/],
    [{ name: "Ada", shoe: "42" }, /shoe: unknown field/],
    [{ name: "Ada", toString: "x" }, /toString: unknown field/],
  ])("%j is refused with what was expected", (answers, problem) => {
    expect(elicitedContent(input, answers as Record<string, string>).problems?.join("; ")).toMatch(problem);
  });

  test("is asked for field by field", () => {
    expect(formFields(input).slice(-3)).toEqual([
      { name: "colour", about: "one of r, b", options: ["r", "b"], several: false, required: false },
      {
        name: "days",
        about: "some of mon, tue, separated by commas",
        options: ["mon", "tue"],
        several: true,
        required: false,
      },
      { name: "size", about: "one of s, m", options: ["s", "m"], several: false, required: false },
    ]);
    expect(formFields({ url: "https://x.example" })).toEqual([]);
  });

  test.each([undefined, null, "text", { properties: 5, required: "x" }, { properties: { a: 1 } }])(
    "to a form that is none (%j) is checked as far as it can be",
    (odd) => {
      const read = elicitedContent({ requested_schema: odd }, {});
      expect(read).toEqual({ content: {} });
    },
  );
});
