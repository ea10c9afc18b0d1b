import type {
  Cassette,
  CassetteExchange,
  CassetteThread,
  RecordedAnswer,
  RecordedNews,
} from "../../core/suite/cassette.ts";
import type { Drift } from "../../core/ports/tape.ts";
import { taskOf } from "./request-fingerprint.ts";
import { differences, isEqualJson, type Sides, unifiedDiff } from "./drift.ts";
import { mapTexts } from "./placeholders.ts";

/** One difference between two cassettes. */
export interface CassetteDifference extends Omit<Drift, "what"> {
  readonly what: Drift["what"] | "answer" | "missing" | "new";
}

/** How the second of two cassettes differs, in requests and answers, thread by thread and in order. */
export function compareCassettes(a: Cassette, b: Cassette, sides: Sides): readonly CassetteDifference[] {
  const before = a.threads.map(comparable);
  const free = b.threads.map(comparable);
  const found = before.flatMap((thread) => {
    const other = take(free, thread);
    return comparedThreads({ before: thread, after: other }, { a, b, sides });
  });
  return [
    ...found,
    ...free.flatMap((thread) => comparedThreads({ before: undefined, after: thread }, { a, b, sides })),
  ];
}

interface Both {
  readonly a: Cassette;
  readonly b: Cassette;
  readonly sides: Sides;
}

/** The corresponding thread; subagents are matched by their tasks, else by their names. */
function take(free: CassetteThread[], wanted: CassetteThread): CassetteThread | undefined {
  const fits = (one: CassetteThread): boolean => one.session === wanted.session && one.class === wanted.class;
  const isSameTask = (one: CassetteThread): boolean => {
    const [first, second] = [one.exchanges[0], wanted.exchanges[0]];
    return wanted.thread !== "main" && first !== undefined && second !== undefined && taskOf(first) === taskOf(second);
  };
  const found =
    free.find((one) => fits(one) && isSameTask(one)) ?? free.find((one) => fits(one) && one.thread === wanted.thread);
  if (found !== undefined) free.splice(free.indexOf(found), 1);
  return found;
}

function comparedThreads(
  { before, after }: { before: CassetteThread | undefined; after: CassetteThread | undefined },
  both: Both,
): CassetteDifference[] {
  const { session, thread } = before ?? after ?? { session: "", thread: "" };
  const length = Math.max(before?.exchanges.length ?? 0, after?.exchanges.length ?? 0);
  return Array.from({ length }, (_, index) => index).flatMap((index) => {
    const all = comparedExchanges([before?.exchanges[index], after?.exchanges[index]], both);
    return all.map((difference) => ({ session, thread, ordinal: index + 1, ...difference }));
  });
}

type Found = Pick<CassetteDifference, "what" | "summary" | "diff">;

function comparedExchanges(
  [one, other]: readonly [CassetteExchange | undefined, CassetteExchange | undefined],
  { a, b, sides }: Both,
): readonly Found[] {
  if (one === undefined || other === undefined) {
    const diff = unifiedDiff(
      one === undefined ? "" : newsAndAnswer(one),
      other === undefined ? "" : newsAndAnswer(other),
      sides,
    );
    return one === undefined
      ? [{ what: "new", summary: `only ${sides[1]} has this request`, diff }]
      : [{ what: "missing", summary: `only ${sides[0]} has this request`, diff }];
  }
  const asked = {
    ...other,
    instructions: b.texts[other.instructions],
    tools: (b.texts[other.tools] ?? []) as unknown[],
  };
  const found: Found[] = [...differences(one, asked, a.texts, { sides }).differences];
  if (!isEqualJson(one.answer, other.answer))
    found.push({
      what: "answer",
      summary: "the model answered differently",
      diff: unifiedDiff(one.answer, other.answer, sides),
    });
  return found;
}

function newsAndAnswer({ news, answer }: CassetteExchange): unknown {
  return { news, answer };
}

const CALL_ID = /\b(?:srv)?toolu_\w+/g;

/** Without what differs in every recording: ids of messages and calls, tokens, and signatures. */
function comparable(thread: CassetteThread): CassetteThread {
  const names = new Map<string, string>();
  const stableName = (id: string): string => {
    const name = names.get(id) ?? `call ${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  const exchanges = thread.exchanges.map((exchange) => ({
    ...exchange,
    news: inOrder(mapTexts(exchange.news, (text) => text.replace(CALL_ID, stableName)) as RecordedNews[]),
    answer: mapTexts(plainAnswer(exchange.answer), (text) => text.replace(CALL_ID, stableName)) as RecordedAnswer,
  }));
  return { ...thread, exchanges };
}

/** Results are ordered by their ids, which differ in the other recording. */
function inOrder(news: readonly RecordedNews[]): RecordedNews[] {
  return news.map((one) => ({ ...one, content: one.content.toSorted((a, b) => idOf(a).localeCompare(idOf(b))) }));
}

function idOf({ tool_use_id: id }: RecordedNews["content"][number]): string {
  return typeof id === "string" ? id : "";
}

function plainAnswer(answer: RecordedAnswer): unknown {
  if (answer.kind === "error") return answer;
  const { role, model, content, stop_reason: stopReason } = answer.message;
  return {
    ...answer,
    message: { role, model, content: content.map(withoutSignature), stop_reason: stopReason },
  };
}

function withoutSignature(block: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(block).filter(([key]) => key !== "signature"));
}
