import { CapstanError } from "../../core/errors.ts";
import type { EventOf, SessionEvent } from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";

type Result = EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result">;

/** The last characters of an id are enough if there are at least this many. */
const SHORTEST = 4;

/** Returns the saved output of a call. `call` is its id or the last characters of it. */
export async function readOutput(
  store: Pick<Store, "events" | "toolOutputs">,
  sessionId: string,
  call: string,
): Promise<Buffer> {
  const results = (await store.events(sessionId)).map(({ event }) => event).filter(isResult);
  const found =
    results.findLast(({ call_id: id }) => id === call) ??
    results.findLast(({ call_id: id }) => call.length >= SHORTEST && id?.endsWith(call) === true);
  if (found === undefined)
    throw new CapstanError(
      "not_found",
      `No call ${call} of session ${sessionId} has a result. Find its call_id with: capstan sessions show ${sessionId} --json`,
      { data: { sessionId, call } },
    );
  const hash = "whole_output" in found ? found.whole_output?.hash : undefined;
  if (hash === undefined) return Buffer.from(textOf(found));
  const state = await store.toolOutputs.check(sessionId, hash);
  const content = state === "intact" ? await store.toolOutputs.read(sessionId, hash) : undefined;
  if (content !== undefined) return content;
  throw new CapstanError(
    "store_corrupt",
    `The output of ${call} ${state === "altered" ? "was changed after it was saved" : "no longer exists"}. The log still has its beginning. Check the store with: capstan audit verify`,
    { data: { sessionId, call, hash } },
  );
}

function isResult(event: SessionEvent): event is Result {
  return (
    event.type === "agent.tool_result" ||
    event.type === "agent.mcp_tool_result" ||
    event.type === "user.custom_tool_result"
  );
}

function textOf({ content = [] }: Result): string {
  return content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block))).join("\n");
}
