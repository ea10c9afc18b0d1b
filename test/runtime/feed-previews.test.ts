import { expect, test } from "vitest";
import { type Preview, preview, type SessionEvent } from "../../src/core/events/events.ts";
import { type FeedItem, toLoggedEvent } from "../../src/runtime/log/feed.ts";
import { example } from "../support/event-examples.ts";
import { feedScene } from "./feed-scene.ts";

type Scene = Awaited<ReturnType<typeof feedScene>>;

const start = (id: string): Preview => ({ type: "event_start", event: { id, type: "agent.message" } });
const piece = (id: string, text: string): Preview => ({
  type: "event_delta",
  event_id: id,
  delta: { type: "content_delta", content: { type: "text", text } },
});
const withdrawn = (id: string): Preview => ({ type: "capstan.event_withdrawn", event_id: id });

async function say({ feed, keep }: Scene, ...items: readonly (Preview | SessionEvent)[]): Promise<void> {
  for (const item of items)
    if (isPreview(item)) feed.publish(item);
    else for (const event of await keep([item])) feed.publish(toLoggedEvent(event));
}

function isPreview(item: Preview | SessionEvent): item is Preview {
  return preview.safeParse(item).success;
}

/** The next so many items: events by their type. */
async function next(items: AsyncGenerator<FeedItem>, count: number): Promise<(Preview | string)[]> {
  const seen: (Preview | string)[] = [];
  while (seen.length < count) {
    const { value } = (await items.next()) as { value: FeedItem };
    seen.push("seq" in value ? value.type : value);
  }
  return seen;
}

const message = (id: string) => example("agent.message", { id });
const idle = example("session.status_idle", {});

test("whoever comes in the middle of a message is told it from its start, each for themselves", async () => {
  await using s = await feedScene();
  await say(s, message("sevt_0"), start("sevt_1"), piece("sevt_1", "One, "), piece("sevt_1", "two"));
  const [first, second] = [s.follow(), s.follow(1)];
  expect(await next(first, 3)).toEqual(["agent.message", start("sevt_1"), piece("sevt_1", "One, two")]);
  await say(s, piece("sevt_1", ", three"));
  expect(await next(second, 2)).toEqual([start("sevt_1"), piece("sevt_1", "One, two, three")]);
  await say(s, piece("sevt_1", ", four"), message("sevt_1"));
  expect(await next(first, 3)).toEqual([piece("sevt_1", ", three"), piece("sevt_1", ", four"), "agent.message"]);
  expect(await next(second, 2)).toEqual([piece("sevt_1", ", four"), "agent.message"]);
});

test("what was finished, withdrawn or cut off is not told again", async () => {
  await using s = await feedScene();
  await say(s, start("sevt_1"), piece("sevt_1", "finished"), message("sevt_1"));
  await say(s, start("sevt_2"), piece("sevt_2", "withdrawn"), withdrawn("sevt_2"));
  await say(s, start("sevt_3"), piece("sevt_3", "interrupted"), idle);
  await say(s, start("sevt_4"), piece("sevt_4", "lost"), example("capstan.process_lost", {}));
  await say(s, start("sevt_5"));
  expect(await next(s.follow(), 4)).toEqual([
    "agent.message",
    "session.status_idle",
    "capstan.process_lost",
    start("sevt_5"),
  ]);
  s.feed.release();
  await say(s, message("sevt_6"));
  expect(await next(s.follow(3), 1)).toEqual(["agent.message"]);
});

test("a reader who could not keep up begins the message again, without a hole", async () => {
  await using s = await feedScene();
  await say(s, start("sevt_1"), piece("sevt_1", "0 "));
  const items = s.follow();
  await next(items, 2);
  // More than may wait, while nobody reads.
  const numbers = Array.from({ length: 1_200 }, (_, index) => `${index + 1} `);
  await say(s, ...numbers.map((number) => piece("sevt_1", number)));
  expect(await next(items, 2)).toEqual([start("sevt_1"), piece("sevt_1", `0 ${numbers.join("")}`)]);
  await say(s, piece("sevt_1", "end"), message("sevt_1"));
  expect(await next(items, 2)).toEqual([piece("sevt_1", "end"), "agent.message"]);
});

test("a reader who missed that a message was withdrawn is told so, and of one that came nothing more", async () => {
  await using s = await feedScene();
  await say(s, start("sevt_1"), start("sevt_2"));
  const items = s.follow();
  await next(items, 2);
  await say(s, withdrawn("sevt_1"), message("sevt_2"), start("sevt_3"));
  await say(s, ...Array.from({ length: 1_200 }, () => piece("sevt_3", "x")));
  expect(await next(items, 4)).toEqual([
    "agent.message",
    withdrawn("sevt_1"),
    start("sevt_3"),
    piece("sevt_3", "x".repeat(1_200)),
  ]);
  await say(s, message("sevt_3"));
  expect(await next(items, 1)).toEqual(["agent.message"]);
});

test("what a session was saying is withdrawn when this host does not drive it any more", async () => {
  let isLive = true;
  await using s = await feedScene(() => isLive);
  await say(s, start("sevt_1"), piece("sevt_1", "Half"));
  const items = s.follow();
  await next(items, 2);
  isLive = false;
  s.feed.release();
  expect(await next(items, 1)).toEqual([withdrawn("sevt_1")]);
});
