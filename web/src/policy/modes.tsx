import type { WireExplanation } from "../../../src/client/index.ts";
import { Pill, type Tone } from "../parts/tone.tsx";

export type Mode = WireExplanation["mode"];
export type Behavior = WireExplanation["behavior"];

/** What happens to calls that no rule covers. */
export const MODE_WORDS: Readonly<Record<Mode, string>> = {
  normal: "reading in the workspace is allowed, everything else needs approval",
  "accept-edits": "reading and editing in the workspace are allowed, everything else needs approval",
  "read-only": "everything that could change something is denied",
  plan: "everything that could change something is denied; leaving the mode needs approval",
  yolo: "everything is allowed unless a rule denies it or requires approval; writes to configuration still need approval",
};
export const MODE_NAMES = Object.keys(MODE_WORDS) as Mode[];

export function ModePill({ mode }: { readonly mode: Mode }) {
  return (
    <span title={MODE_WORDS[mode]}>
      <Pill tone={mode === "yolo" ? "waiting" : "quiet"}>{mode}</Pill>
    </span>
  );
}

const BEHAVIORS: Readonly<Record<Behavior, { readonly word: string; readonly tone: Tone }>> = {
  allow: { word: "allowed", tone: "good" },
  deny: { word: "denied", tone: "bad" },
  ask: { word: "needs approval", tone: "waiting" },
};

export function BehaviorPill({ behavior }: { readonly behavior: Behavior }) {
  const { word, tone } = BEHAVIORS[behavior];
  return <Pill tone={tone}>{word}</Pill>;
}
