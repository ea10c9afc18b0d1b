import { call, type Reply, say, type Script, toolUse } from "./scripted-model.ts";

type Call = readonly [tool: string, input: Record<string, unknown>];

/** One step of a turn: a call, or several at once. */
export type Step = Call | { readonly together: readonly Call[] };

const MARK = "Do exactly this: ";

/** A message that `obedient` does, step by step. */
export function order(...steps: readonly Step[]): string {
  return `${MARK}${JSON.stringify(steps)}`;
}

/** A model that does what the last `order` says, and then says that it is done. To anything else it says "ok". */
export const obedient: Script = ({ body }) => {
  const texts = body.messages.flatMap(({ role, content }) => {
    if (role !== "user") return [];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return [blocks];
  });
  const at = texts.findLastIndex((blocks) => blocks.some((block) => orderIn(block) !== undefined));
  const steps = texts[at]?.map(orderIn).find((found) => found !== undefined);
  if (steps === undefined) return say("ok");
  const isLater = texts.slice(at + 1).some((blocks) => blocks.every(({ type }) => type !== "tool_result"));
  const done = texts.slice(at + 1).filter((blocks) => blocks.some(({ type }) => type === "tool_result")).length;
  const next = steps[done];
  return isLater || next === undefined ? say(isLater ? "ok" : "done") : replyOf(next);
};

function orderIn(block: Record<string, unknown>): readonly Step[] | undefined {
  const text = typeof block["text"] === "string" ? block["text"] : "";
  const from = text.indexOf(MARK);
  return from < 0 ? undefined : (JSON.parse(text.slice(from + MARK.length)) as readonly Step[]);
}

function replyOf(step: Step): Reply {
  if (!("together" in step)) return call(...step);
  return { blocks: step.together.map((one) => toolUse(...one)) };
}
