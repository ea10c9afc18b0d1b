import { type CaseStatus, STATUS_WORDS } from "../../../src/protocol/api/suite-run-facts.ts";
import { Pill, type Tone } from "../parts/tone.tsx";

const TONES: Readonly<Record<CaseStatus, Tone>> = {
  passed: "good",
  failed: "bad",
  error: "bad",
  not_run: "waiting",
  skipped: "quiet",
};

export function Status({ of }: { readonly of: CaseStatus }) {
  return <Pill tone={TONES[of]}>{STATUS_WORDS[of]}</Pill>;
}

export function OutcomePill({ good, children }: { readonly good: boolean; readonly children: string }) {
  return <Pill tone={good ? "good" : "bad"}>{children}</Pill>;
}
