import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { echoEngine } from "../../support/echo-engine.ts";
import { hostOn, theseEngines } from "../../support/engine-host.ts";
import { testEnvironment } from "../../support/host.ts";
import { say, scriptedModel } from "../../support/scripted-model.ts";
import type { Observe } from "./observables.ts";

/** Who answers a message: each engine says its name. */
export const engine: Observe = async ({ loaded: { agent }, scratch }) => {
  await using model = await scriptedModel(() => say("heard"));
  const home = join(scratch, "home");
  const engines = theseEngines(echoEngine("claude"), echoEngine("direct"));
  await using host = await hostOn(engines, { home, environment: testEnvironment(model.url) });
  const cwd = join(scratch, "work");
  mkdirSync(cwd);
  const session = await host.startSession({ agent, cwd });
  return (await session.send("hello").result()).text;
};
