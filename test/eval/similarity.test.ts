import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bleu } from "../../src/eval/graders/similarity/bleu.ts";
import { levenshteinDistance, levenshteinSimilarity } from "../../src/eval/graders/similarity/levenshtein.ts";
import { rougeL, rougeN } from "../../src/eval/graders/similarity/rouge.ts";
import { similarityOf } from "../../src/eval/graders/similarity/similarity.ts";

/** Each file says where its vectors come from. */
function fixture<Vector>(name: string): { readonly vectors: readonly Vector[]; readonly published: readonly Vector[] } {
  const read = JSON.parse(readFileSync(`test/fixtures/similarity/${name}.json`, "utf8")) as {
    source: string;
    vectors: Vector[];
    published?: { source: string; vectors: Vector[] };
  };
  expect(read.source).not.toBe("");
  return { vectors: read.vectors, published: read.published?.vectors ?? [] };
}

interface ToOne {
  readonly text: string;
  readonly reference: string;
}
type Levenshtein = ToOne & { readonly distance: number; readonly similarity: number };
type Rouge = ToOne & { readonly rouge_1?: number; readonly rouge_2?: number; readonly rouge_l?: number };
interface Bleu {
  readonly text: string;
  readonly references: readonly string[];
  readonly score: number;
}

describe("reference vectors", () => {
  test.for(fixture<Levenshtein>("levenshtein").vectors)("Levenshtein: $text | $reference", (vector) => {
    expect(levenshteinDistance(vector.text, vector.reference)).toBe(vector.distance);
    expect(levenshteinSimilarity(vector.text, vector.reference)).toBeCloseTo(vector.similarity, 10);
  });

  test.for(fixture<Bleu>("bleu").vectors)("BLEU: $text | $references", ({ text, references, score }) => {
    expect(bleu(text, references)).toBeCloseTo(score, 10);
  });

  test.for(fixture<Bleu>("bleu").published)("BLEU, published: $text", ({ text, references, score }) => {
    expect(Math.abs(bleu(text, references) - score)).toBeLessThan(1e-5);
  });

  const { vectors, published } = fixture<Rouge>("rouge");
  test.for([...vectors, ...published])("ROUGE: $text | $reference", ({ text, reference, ...expected }) => {
    if (expected.rouge_1 !== undefined) expect(rougeN(text, reference, 1)).toBeCloseTo(expected.rouge_1, 10);
    if (expected.rouge_2 !== undefined) expect(rougeN(text, reference, 2)).toBeCloseTo(expected.rouge_2, 10);
    if (expected.rouge_l !== undefined) expect(rougeL(text, reference)).toBeCloseTo(expected.rouge_l, 10);
  });
});

const METHODS = ["levenshtein", "bleu", "rouge_1", "rouge_2", "rouge_l"] as const;
const SYMMETRIC = METHODS.filter((method) => method !== "bleu");
const words = fc.array(fc.constantFrom("the", "file", "was", "written", "1.5", "ok.", "Grüße"), { maxLength: 12 });
const text = fc.oneof(
  words.map((list) => list.join(" ")),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);

test("every measure lies between 0 and 1, and identical texts are 1", () => {
  fc.assert(
    fc.property(
      text,
      fc.array(text, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...METHODS),
      (one, all, method) => {
        const score = similarityOf(one, all, method);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        expect(similarityOf(one, [one], method)).toBe(1);
      },
    ),
  );
});

test("all but BLEU are symmetric", () => {
  fc.assert(
    fc.property(text, text, fc.constantFrom(...SYMMETRIC), (a, b, method) => {
      expect(similarityOf(a, [b], method)).toBeCloseTo(similarityOf(b, [a], method), 12);
    }),
  );
});

test("Levenshtein's distance is a metric", () => {
  fc.assert(
    fc.property(text, text, text, (a, b, c) => {
      const [ab, bc, ac] = [levenshteinDistance(a, b), levenshteinDistance(b, c), levenshteinDistance(a, c)];
      expect(ab === 0).toBe(a === b);
      expect(ac).toBeLessThanOrEqual(ab + bc);
    }),
  );
});

test("BLEU without the shortcut for identical texts is 1 for every text with words", () => {
  fc.assert(
    fc.property(
      words.filter((list) => list.length > 0).map((list) => list.join(" ")),
      (one) => {
        expect(bleu(one, [one])).toBeCloseTo(1, 12);
      },
    ),
  );
});

test("of several references the best counts", () => {
  expect(similarityOf("a b", ["x y", "a b c"], "rouge_1")).toBeCloseTo(0.8, 12);
  expect(similarityOf("kitten", ["nothing", "sitten"], "levenshtein")).toBeCloseTo(5 / 6, 12);
});

test("letters of every script are words to ROUGE", () => {
  expect(rougeN("Größe und Maß", "größe", 1)).toBeCloseTo(0.5, 12);
  expect(rougeN("привет мир", "привет", 1)).toBeCloseTo(2 / 3, 12);
});

test("texts too long to be compared are told", () => {
  const [a, b] = ["a".repeat(30_000), "b".repeat(30_000)];
  expect(() => similarityOf(a, [b], "levenshtein")).toThrow(/too long.*bleu/);
});
