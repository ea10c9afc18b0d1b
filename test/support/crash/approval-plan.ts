import { type Scenario, SCENARIO_NAMES, SCENARIOS } from "./approval-task.ts";
import { random } from "./random.ts";
import { VICTIMS } from "./victims.ts";

/** One round of the campaign, all of it drawn from the seed. */
export interface Plan {
  readonly seed: number;
  readonly scenario: Scenario;
  /** By the effect that is asked about. */
  readonly answers: Readonly<Record<string, PlannedAnswer>>;
  readonly blows: readonly Blow[];
  /** How soon the host itself ends a process that only waits for a person. */
  readonly hibernateAfterMs: number;
}

interface PlannedAnswer {
  readonly behavior: "allow" | "deny";
  /** It is given when so many blows have fallen. */
  readonly afterBlows: number;
  /** Through the host that drives the session, beside it, or at a time when there is no host. */
  readonly where: "host" | "store" | "no host";
  readonly delayMs: number;
}

export interface Blow {
  readonly what: "host" | "engine";
  /** What it waits for, counted from the blow before; a turn that stands still is struck in any case. */
  readonly moment: Moment;
  readonly delayMs: number;
}

export type Moment = (typeof MOMENTS)[number] | "still";

/** Each with the longest time, in milliseconds, that the blow may come after it. */
const MOMENTS = ["start", "process", "asked", "answered", "allowed", "effect"] as const;
const SPREAD: Readonly<Record<(typeof MOMENTS)[number], number>> = {
  start: 1_500,
  process: 400,
  asked: 150,
  answered: 300,
  // Until the call has started, as long as it runs, and some more.
  allowed: 300,
  // The call runs on for a while after its effect.
  effect: 200,
};

/** Longer than a round. */
export const NEVER_MS = 600_000;

export function planRound(seed: number): Plan {
  const next = random(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
  // Each scenario as often as any other, also in a short campaign.
  const scenario = SCENARIO_NAMES[seed % SCENARIO_NAMES.length] as Scenario;
  const blows = Array.from({ length: pick([1, 1, 2, 3]) }, (): Blow => {
    const moment = pick(MOMENTS);
    return { what: pick(VICTIMS), moment, delayMs: Math.floor(next() * SPREAD[moment]) };
  });
  const answers = Object.keys(SCENARIOS[scenario]).map((name): [string, PlannedAnswer] => [
    name,
    {
      behavior: pick(["allow", "allow", "deny"]),
      afterBlows: Math.floor(next() * (blows.length + 1)),
      where: pick(["host", "store", "no host"]),
      delayMs: pick([0, Math.floor(next() * 300)]),
    },
  ]);
  const hibernateAfterMs = pick([NEVER_MS, NEVER_MS, Math.floor(next() * 300)]);
  return { seed, scenario, answers: Object.fromEntries(answers), blows, hibernateAfterMs };
}

export function describePlan({ seed, scenario, blows, answers, hibernateAfterMs }: Plan): string {
  const rests = hibernateAfterMs === NEVER_MS ? "" : `; rests after ${hibernateAfterMs} ms`;
  const struck = blows.map(({ what, moment, delayMs }) => `${what} ${delayMs} ms after ${moment}`).join(", ");
  const given = Object.entries(answers).map(
    ([name, { behavior, afterBlows, where }]) => `${name} ${behavior} after ${afterBlows} (${where})`,
  );
  return `seed ${seed}, ${scenario}: ${struck}; ${given.join(", ")}${rests}`;
}
