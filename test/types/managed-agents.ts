/**
 * Compile-time only: every event of ours that the Managed Agents API has a word for can be handed to code that is
 * written against Anthropic's own types. The compiler fails here when a shape drifts.
 */
import type { Beta } from "@anthropic-ai/sdk/resources/beta";
import type { EventType, Preview, SessionEvent } from "../../src/core/events/events.ts";

type Official = Beta.Sessions.BetaManagedAgentsSessionEvent;
type OfficialPreview = Beta.Sessions.BetaManagedAgentsStartEvent | Beta.Sessions.BetaManagedAgentsDeltaEvent;

type Ours<T extends EventType> = Extract<SessionEvent, { type: T }>;
type Theirs<T extends EventType> = Extract<Official, { type: T }>;
type Shared = Exclude<EventType, `capstan.${string}`>;

/** Types of ours that the API does not know: must be none. */
type Unknown = { [T in Shared]: Theirs<T> extends never ? T : never }[Shared];
/** Types of ours that are not assignable to the API's type of the same name: must be none. */
type Drifted = { [T in Shared]: Ours<T> extends Theirs<T> ? never : T }[Shared];
type DriftedPreview = Exclude<Preview, { type: `capstan.${string}` }> extends OfficialPreview ? never : "preview";

const nothing = (_value: never): void => {};
export const proof = (unknown: Unknown, drifted: Drifted, preview: DriftedPreview): void => {
  nothing(unknown);
  nothing(drifted);
  nothing(preview);
};
