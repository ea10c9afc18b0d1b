import type { WireExplanation } from "../../../src/client/index.ts";
import { Pill, type Tone } from "../parts/tone.tsx";

export type Mode = WireExplanation["mode"];
export type Behavior = WireExplanation["behavior"];

/** What happens to calls that no rule speaks of. */
export const MODES: Readonly<Record<Mode, string>> = {
  normal: "reading in the workspace is allowed, all else is asked about",
  "accept-edits": "edits in the workspace are allowed as well",
  "read-only": "whatever may change something is denied",
  plan: "whatever may change something is denied; leaving the mode is a question",
  yolo: "everything is allowed that no rule denies or asks about, but for writes to configuration",
};
export const MODE_NAMES = Object.keys(MODES) as Mode[];

export function ModePill({ mode }: { readonly mode: Mode }) {
  return (
    <span title={MODES[mode]}>
      <Pill tone={mode === "yolo" ? "waiting" : "quiet"}>{mode}</Pill>
    </span>
  );
}

const BEHAVIORS: Readonly<Record<Behavior, { readonly word: string; readonly tone: Tone }>> = {
  allow: { word: "allowed", tone: "good" },
  deny: { word: "denied", tone: "bad" },
  ask: { word: "asked about", tone: "waiting" },
};

export function BehaviorPill({ behavior }: { readonly behavior: Behavior }) {
  const { word, tone } = BEHAVIORS[behavior];
  return <Pill tone={tone}>{word}</Pill>;
}
