import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import { type EvaluatedEvent, Evaluations } from "../../protocol/v1/evaluations.ts";

/**
 * Adds the permission decision to each tool call. Holds back a call and everything after it until the decision is
 * known.
 */
export async function* evaluate(items: AsyncIterable<LoggedEvent | Preview>): AsyncGenerator<EvaluatedEvent | Preview> {
  const evaluations = new Evaluations();
  const held: LoggedEvent[] = [];
  for await (const item of items) {
    if (!("seq" in item)) {
      yield item;
      continue;
    }
    evaluations.see(item);
    held.push(item);
    yield* release((event) => !evaluations.isOpen(event));
  }
  yield* release(() => true);

  function* release(isReady: (event: LoggedEvent) => boolean): Generator<EvaluatedEvent> {
    for (let [first] = held; first !== undefined && isReady(first); [first] = held) {
      held.shift();
      yield evaluations.evaluate(first);
    }
  }
}
