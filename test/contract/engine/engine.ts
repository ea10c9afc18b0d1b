import { describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../../src/core/ports/engine-capabilities.ts";
import { builtinTools } from "./builtin-tools.ts";
import { compaction } from "./compaction.ts";
import { confinement } from "./confinement.ts";
import { desks } from "./desks.ts";
import { faults } from "./faults.ts";
import { history } from "./history.ts";
import { interrupts } from "./interrupts.ts";
import { limits } from "./limits.ts";
import { output } from "./output.ts";
import { people } from "./people.ts";
import { servers } from "./servers.ts";
import { settings } from "./settings.ts";
import { type EngineUnderTest, Stage } from "./stage.ts";
import { subagents } from "./subagents.ts";
import { switches } from "./switches.ts";
import { toolCalls } from "./tool-calls.ts";
import { turns } from "./turns.ts";

/**
 * What every engine must do, through the runtime, the gateway and the store, with only the model scripted. What an engine
 * may lack is data beside it; each capability has tests here, and one that is lacking has a test of what happens instead.
 */
export function engineContract(engine: EngineUnderTest): void {
  describe(`the ${engine.name} engine`, () => {
    const stage = new Stage(engine);
    const shared = desks(stage);
    const parts = [
      turns,
      interrupts,
      toolCalls,
      builtinTools,
      people,
      subagents,
      servers,
      history,
      compaction,
      output,
      limits,
      switches,
      settings,
      confinement,
      faults,
    ];
    for (const part of parts) part(stage, shared);

    test("every capability that an engine may lack has tests", () => {
      expect(stage.shown.toSorted()).toEqual(Object.keys(CAPABILITIES).toSorted());
    });
  });
}
