import { expect } from "vitest";
import type { Approval } from "../../../src/core/session/approval.ts";
import type { EventOf, SessionEvent } from "../../../src/core/events/events.ts";
import { ofType } from "../host.ts";
import type { ModelRequest } from "../scripted-model.ts";
import type { Plan } from "./approval-plan.ts";
import { effectOf, taskIn } from "./approval-task.ts";
import { effectsIn, expectHistory, expectValidLog } from "./campaign.ts";

/** A blow that fell, and between which places of the log. */
export interface FallenBlow {
  readonly what: "host" | "engine";
  readonly from: number;
  readonly to: number;
  /** Whether there was something to kill. */
  readonly hit: boolean;
}

interface Found {
  readonly home: string;
  readonly cwd: string;
  readonly sessionId: string;
  readonly events: readonly SessionEvent[];
  readonly approvals: readonly Approval[];
  readonly lastRequest: ModelRequest | undefined;
}

type ToolUse = EventOf<"agent.tool_use">;

/** Everything that is promised of approvals, whoever was killed and whenever. */
export async function expectKeptPromises(
  { home, cwd, sessionId, events, approvals, lastRequest }: Found,
  { plan, fallen }: { plan: Plan; fallen: readonly FallenBlow[] },
): Promise<void> {
  await expectValidLog(home, { sessionId, events });
  expectEffects(effectsIn(cwd), events, plan);
  for (const use of ofType(events, "agent.tool_use")) expectKnownOutcome(use, events, fallen);
  for (const approval of approvals) expectSettledOnce(approval, events);
  expectHistory(lastRequest, events);
}

/** At most once always; once when allowed and nothing was lost; never when denied, and never without the log's knowing. */
function expectEffects(effects: readonly string[], events: readonly SessionEvent[], plan: Plan): void {
  for (const [name, { behavior }] of Object.entries(plan.answers)) {
    const uses = ofType(events, "agent.tool_use");
    const own = uses.filter(({ input }) => effectOf(input) === name).map((use) => resultOf(use, events));
    const delegated = uses.filter(({ input }) => taskIn(input) === name).map((use) => resultOf(use, events));
    const completed = own.filter((result) => result?.outcome === "completed").length;
    const unknown = own.filter(isUnknown).length;
    const runs = effects.filter((effect) => effect === name).length;
    expect(runs, `${name} has run`).toBeLessThanOrEqual(behavior === "allow" ? 1 : 0);
    expect(runs, `${name} has run and the log knows it`).toBeLessThanOrEqual(completed + unknown);
    expect(runs, `${name} is completed, so it has run`).toBeGreaterThanOrEqual(completed);
    if (behavior === "allow" && unknown === 0 && !delegated.some(isUnknown))
      expect(runs, `${name} was allowed and nothing about it is unknown`).toBe(1);
  }
}

/** An outcome may only be unknown when a blow fell between the call's permission and its result. */
function expectKnownOutcome(use: ToolUse, events: readonly SessionEvent[], fallen: readonly FallenBlow[]): void {
  const decisions = ofType(events, "capstan.permission_decided").filter(({ call_id: id }) => id === use.call_id);
  expect(decisions.length, `${use.call_id} is decided`).toBeLessThanOrEqual(1);
  const result = resultOf(use, events);
  if (!isUnknown(result)) return;
  const allowedAt = 1 + events.findIndex((event) => event === decisions[0]);
  const settledAt = 1 + events.findIndex((event) => event === result);
  const struck = fallen.filter(({ hit, from, to, what }) => {
    // The host may allow a call before it notices that the process is gone.
    const noticed = 1 + events.findIndex((event, index) => index >= from && event.type === "capstan.process_lost");
    return hit && from <= settledAt && allowedAt <= (what === "host" ? to : Math.max(to, noticed));
  });
  expect(struck.length, `a blow made the outcome of ${use.call_id} unknown`).toBeGreaterThan(0);
}

function expectSettledOnce({ id, status, answer }: Approval, events: readonly SessionEvent[]): void {
  const decisions = ofType(events, "capstan.permission_decided").filter(({ approval_id: about }) => about === id);
  const confirmations = ofType(events, "user.tool_confirmation").filter(({ approval_id: about }) => about === id);
  expect(status, `${id} is over`).toBe("settled");
  expect(decisions.length, `${id} is decided`).toBe(1);
  expect(
    confirmations.map(({ result }) => result),
    `the answer to ${id} is in the log`,
  ).toEqual(answer === null ? [] : [answer.behavior]);
  if (answer !== null)
    expect(decisions[0], `the answer to ${id} was acted on`).toMatchObject({
      decision: answer.behavior,
      decided_by: `person:${answer.by}`,
    });
}

function resultOf(use: ToolUse, events: readonly SessionEvent[]): EventOf<"agent.tool_result"> | undefined {
  return ofType(events, "agent.tool_result").find((event) => event.call_id === use.call_id);
}

function isUnknown(result: EventOf<"agent.tool_result"> | undefined): boolean {
  return JSON.stringify(result?.content ?? "").includes("outcome is unknown");
}

/** The log in short, for whoever has to find out why a round failed. */
export function tell(events: readonly SessionEvent[], fallen: readonly FallenBlow[]): string {
  const lines = events.map((event, index) => {
    const { type, id: _id, processed_at: _at, ...facts } = event as SessionEvent & Record<string, unknown>;
    const {
      usage: _usage,
      model_usage: _model,
      traits: _traits,
      subject: _subject,
      tools: _tools,
      ...rest
    } = facts as Record<string, unknown>;
    return `${index + 1} ${type} ${JSON.stringify(rest).slice(0, 400)}`;
  });
  const blows = fallen.map(({ what, from, to, hit }) => `${what} between ${from} and ${to}${hit ? "" : ", missed"}`);
  return [...lines, `blows: ${blows.join("; ")}`].join("\n");
}
