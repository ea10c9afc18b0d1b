import type { ClippedEvent, LoggedEvent } from "../../../src/client/index.ts";
import type { EventOf } from "./groups.ts";

/** The story of one call: who asked, who decided and why, and how it ended. */
export interface CallStory {
  readonly use?: EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;
  readonly hooks: readonly EventOf<"capstan.hook_ran">[];
  readonly asked?: EventOf<"capstan.approval_requested">;
  readonly answer?: EventOf<"user.tool_confirmation">;
  readonly decision?: EventOf<"capstan.permission_decided">;
  readonly end?: EventOf<"agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result">;
}

/** How many events around an event are searched for the rest of its call. */
export const AROUND = 500;

/** Event types about calls. */
export const CALL_TYPES: readonly LoggedEvent["type"][] = [
  "agent.tool_use",
  "agent.mcp_tool_use",
  "agent.custom_tool_use",
  "capstan.hook_ran",
  "capstan.approval_requested",
  "user.tool_confirmation",
  "capstan.permission_decided",
  "agent.tool_result",
  "agent.mcp_tool_result",
  "user.custom_tool_result",
];

/** Whether an event is about a call. */
export function isOfCall(event: LoggedEvent): boolean {
  return CALL_TYPES.includes(event.type) && (event.type !== "capstan.hook_ran" || event.call_id !== undefined);
}

/** The call of an event, from the events around it. */
export function storyOf(event: LoggedEvent, around: readonly ClippedEvent[]): CallStory {
  const all = around.some(({ seq }) => seq === event.seq) ? around : [...around, event];
  // A person's answer refers to the call's event id, hooks to the call id. The call's event has both.
  const names = new Set(namesOf(event));
  for (const one of all) {
    const own = namesOf(one);
    if (own.some((name) => names.has(name))) for (const name of own) names.add(name);
  }
  const told = all.filter((one) => namesOf(one).some((name) => names.has(name)));
  let story: CallStory = { hooks: [] };
  for (const one of told)
    switch (one.type) {
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        story = { ...story, use: one };
        break;
      case "capstan.hook_ran":
        story = { ...story, hooks: [...story.hooks, one] };
        break;
      case "capstan.approval_requested":
        story = { ...story, asked: one };
        break;
      case "user.tool_confirmation":
        story = { ...story, answer: one };
        break;
      case "capstan.permission_decided":
        story = { ...story, decision: one };
        break;
      case "agent.tool_result":
      case "agent.mcp_tool_result":
      case "user.custom_tool_result":
        story = { ...story, end: one };
        break;
      default:
    }
  return story;
}

/** The ids that link an event to its call: the model's and ours. */
function namesOf(event: LoggedEvent): string[] {
  const names: (string | undefined)[] = [];
  if ("call_id" in event) names.push(event.call_id);
  if ("tool_use_id" in event) names.push(event.tool_use_id);
  if ("mcp_tool_use_id" in event) names.push(event.mcp_tool_use_id);
  if ("custom_tool_use_id" in event) names.push(event.custom_tool_use_id);
  if (/^agent\.\w*tool_use$/.test(event.type)) names.push(event.id);
  return names.filter((name) => name !== undefined);
}
