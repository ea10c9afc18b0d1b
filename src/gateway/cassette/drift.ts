import { createTwoFilesPatch } from "diff";
import type { Cassette, CassetteExchange } from "../../core/suite/cassette.ts";
import type { Drift, Ignored } from "../../core/ports/tape.ts";
import type { RequestFingerprint } from "./request-fingerprint.ts";
import { ignoredKinds, type Leeway, steady } from "./varying/ignored-kinds.ts";

export type Difference = Pick<Drift, "what" | "summary" | "diff">;

/** The labels at the top of a diff. */
export type Sides = readonly [before: string, after: string];

/** Content that varies by nature, and therefore does not count as a difference. */
export type Variation = Pick<Ignored, "kinds" | "diff">;

export interface Compared {
  readonly differences: readonly Difference[];
  readonly ignored: readonly Variation[];
}

interface CompareOptions {
  readonly sides?: Sides;
  /** What may vary beside what always does. */
  readonly leeway?: Leeway;
}

const NO_LEEWAY: Leeway = { ignore: [], interrupted: new Set() };

/** All differences between a request and the recorded one, and those of them that do not count. */
export function differences(
  recorded: Omit<CassetteExchange, "answer">,
  asked: Omit<RequestFingerprint, "stream">,
  texts: Cassette["texts"],
  { sides, leeway = NO_LEEWAY }: CompareOptions = {},
): Compared {
  const found: Difference[] = [];
  const compare = (what: Drift["what"], summary: string, [before, after]: readonly [unknown, unknown]): void => {
    if (!isEqualJson(before, after)) found.push({ what, summary, diff: unifiedDiff(before, after, sides) });
  };
  compare("model", `the model was ${recorded.model} and is ${asked.model}`, [recorded.model, asked.model]);
  compare("instructions", "the instructions changed", [texts[recorded.instructions], asked.instructions]);
  const tools = texts[recorded.tools];
  if (!isEqualJson(tools, asked.tools))
    found.push({
      what: "tools",
      summary: toolSummary(tools, asked.tools),
      diff: unifiedDiff(tools, asked.tools, sides),
    });
  compare("settings", "the request's settings changed", [recorded.settings, asked.settings]);
  if (isEqualJson(recorded.news, asked.news)) return { differences: found, ignored: [] };
  const [before, after] = [steady(recorded.news, leeway), steady(asked.news, leeway)];
  if (!isEqualJson(before.news, after.news))
    found.push({
      what: "content",
      summary: newsSummary(before.news, after.news),
      diff: unifiedDiff(before.news, after.news, sides),
    });
  const kinds = ignoredKinds(before, after);
  const ignored = kinds.length === 0 ? [] : [{ kinds, diff: unifiedDiff(recorded.news, asked.news, sides) }];
  return { differences: found, ignored };
}

export function isEqualJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sortKeys(a)) === JSON.stringify(sortKeys(b));
}

/** For people: texts by lines, everything else as JSON. */
export function unifiedDiff(before: unknown, after: unknown, sides: Sides = ["recorded", "now"]): string {
  const patch = createTwoFilesPatch(...sides, readable(before), readable(after), "", "", { context: 2 });
  return patch.split("\n").slice(1).join("\n");
}

function list(words: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${words} ${names.join(", ")}`];
}

interface Named {
  readonly name?: string;
}

function toolSummary(before: unknown, after: readonly unknown[]): string {
  const [old, now] = [byName(before), byName(after)];
  const parts = [
    ...list(
      "removed:",
      [...old.keys()].filter((name) => !now.has(name)),
    ),
    ...list(
      "new:",
      [...now.keys()].filter((name) => !old.has(name)),
    ),
    ...list(
      "changed:",
      [...now.keys()].filter((name) => old.has(name) && !isEqualJson(old.get(name), now.get(name))),
    ),
  ];
  return `the tools changed (${parts.length === 0 ? "in another order" : parts.join("; ")})`;
}

function byName(tools: unknown): ReadonlyMap<string, unknown> {
  return new Map(((tools ?? []) as readonly Named[]).map((tool) => [tool.name ?? "?", tool]));
}

interface Told {
  readonly role?: string;
  readonly content?: readonly { readonly type?: string; readonly tool_use_id?: string }[];
}

function newsSummary(before: readonly unknown[], after: readonly unknown[]): string {
  const [old, now] = [blocks(before), blocks(after)];
  const index = now.findIndex((one, at) => !isEqualJson(one, old[at]));
  const { role, type } = now[index] ??
    old.find((one, at) => !isEqualJson(one, now[at])) ?? { role: "user", type: "text" };
  if (type === "tool_result") return "a tool answered differently";
  return role === "system" ? "the engine's own message to the model changed" : "the message to the model changed";
}

function blocks(news: readonly unknown[]): { role: string; type: string; block: unknown }[] {
  return (news as readonly Told[]).flatMap(({ role = "user", content = [] }) =>
    content.map((block) => ({ role, type: block.type ?? "text", block })),
  );
}

function readable(value: unknown): string {
  return `${lines(value, "").join("\n")}\n`;
}

function lines(value: unknown, indent: string): string[] {
  if (typeof value === "string") return value.split("\n").map((line) => indent + line);
  if (Array.isArray(value)) return value.flatMap((one) => [`${indent}-`, ...lines(one, `${indent}  `)]);
  if (typeof value !== "object" || value === null) return [indent + String(value)];
  return Object.entries(sortKeys(value) as object).flatMap(([key, one]) =>
    typeof one === "string" && !one.includes("\n")
      ? [`${indent}${key}: ${one}`]
      : [`${indent}${key}:`, ...lines(one, `${indent}  `)],
  );
}

/** Key order is irrelevant. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, sortKeys(one)]),
  );
}
