import { NEVER_MS, type Plan } from "./approval-plan.ts";
import { Round } from "./approval-round.ts";
import { type Scenario, SCENARIOS } from "./approval-task.ts";
import type { CrashPoint } from "./crashing-store.ts";

/** Where the host dies: while it asks and acts on answers as they come, or while it revives a turn that was answered. */
type Part = "asking" | "revival";

/** The number of appends of an undisturbed run: the crash points there are. */
export async function countApprovalAppends(scenario: Scenario, part: Part): Promise<number> {
  await using round = await Round.open(planFor(scenario, part));
  return await round.telling(async () => {
    await begin(round, part, undefined);
    await round.live();
    return round.endHost();
  });
}

/** Lets the host die at this point, and another one bring the session to its end. */
export async function surviveApprovalCrash(scenario: Scenario, part: Part, point: CrashPoint): Promise<void> {
  await using round = await Round.open(planFor(scenario, part));
  await round.telling(async () => {
    await begin(round, part, point);
    // Where two appends happened to be written together the last point is not reached, and the agent is done.
    await round.live();
    await round.noteDeath();
    await round.finish();
  });
}

async function begin(round: Round, part: Part, point: CrashPoint | undefined): Promise<void> {
  if (part === "revival") {
    await round.startHost();
    await round.live({ what: "host", moment: "still", delayMs: 0 });
    await round.answerNow("all");
  }
  await round.startHost(point);
}

/** One call of several is denied, so that both answers pass through every point. */
function planFor(scenario: Scenario, part: Part): Plan {
  const names = Object.keys(SCENARIOS[scenario]);
  const answers = names.map((name, index): [string, Plan["answers"][string]] => [
    name,
    {
      behavior: index === 1 ? "deny" : "allow",
      afterBlows: part === "revival" ? 1 : 0,
      where: "store",
      delayMs: 0,
    },
  ]);
  return { seed: 0, scenario, answers: Object.fromEntries(answers), blows: [], hibernateAfterMs: NEVER_MS };
}
