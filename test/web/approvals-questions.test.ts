import { expect, test } from "vitest";
import type { WireApproval } from "../../src/client/index.ts";
import { answersOf, type Asked, askedIn, emptyFor, problemWith } from "../../web/src/approvals/questions/questions.ts";

const asked = (input: Record<string, unknown>, server?: string): readonly Asked[] =>
  askedIn({ input, server } as WireApproval["request"]);
const none = { chosen: [], words: undefined, note: "" };

test("questions of the agent are read leniently, and answered with options, own words and notes", () => {
  const list = asked({
    questions: [
      { question: "Which?", header: "H", options: [{ label: "a", description: "A." }, { label: "b" }, "odd"] },
      { question: "Why?" },
      { nothing: 1 },
    ],
  });
  expect(list).toMatchObject([
    {
      name: "Which?",
      about: "H",
      type: "choice",
      several: false,
      options: [{ value: "a", about: "A." }, { value: "b" }],
    },
    { name: "Why?", type: "text", options: [] },
  ]);
  const [which, why] = list;
  if (which === undefined || why === undefined) throw new Error("nothing was asked");
  expect(problemWith(which, none)).toBe("An answer is required.");
  expect(problemWith(which, { ...none, words: " " })).toMatch(/Write your own answer/);
  const filled = [
    { chosen: ["a"], words: " c ", note: "n" },
    { ...none, words: "So." },
  ];
  expect(answersOf(list, filled)).toEqual({ answers: { "Which?": "a, c", "Why?": "So." }, notes: { "Which?": "n" } });
});

test("the form of a server has a control for each kind of field, with its default", () => {
  const list = asked(
    {
      requested_schema: {
        properties: {
          room: { type: "string", title: "Room", oneOf: [{ const: "r", title: "Red" }], default: "r" },
          days: { type: "array", items: { enum: ["mon", "tue"] }, default: ["tue"] },
          people: { type: "integer", minimum: 1, maximum: 12, description: "How many." },
          catering: { type: "boolean" },
          contact: { type: "string", format: "email" },
        },
        required: ["room", "people"],
      },
    },
    "office",
  );
  expect(list).toMatchObject([
    { name: "room", label: "Room", type: "choice", options: [{ value: "r", label: "Red" }], required: true },
    { name: "days", type: "choice", several: true },
    { name: "people", type: "number", about: "How many. A whole number from 1 up to 12." },
    { name: "catering", type: "boolean", required: false },
    { name: "contact", type: "text", format: "email" },
  ]);
  const filled = list.map(emptyFor);
  expect(filled.slice(0, 2).map(({ chosen }) => chosen)).toEqual([["r"], ["tue"]]);
  expect(list.map((one, index) => problemWith(one, filled[index] ?? none))).toEqual([
    undefined,
    undefined,
    "An answer is required.",
    undefined,
    undefined,
  ]);
  const people = list[2];
  expect(people && problemWith(people, { ...none, words: "four" })).toBe("Enter a number.");
  // What may be left out and was, is not sent.
  expect(answersOf(list, filled.with(2, { ...none, words: "4" }))).toEqual({
    answers: { room: "r", days: "tue", people: "4" },
  });
});

test("what is no form asks nothing", () => {
  expect(asked({ requested_schema: "?" }, "office")).toEqual([]);
  expect(asked({ questions: "?" })).toEqual([]);
});
