import type { TestHost } from "../../support/host.ts";
import { testHost } from "../../support/host.ts";
import type { Script } from "../../support/scripted-model.ts";

/** A real host whose agents run on the direct engine; only the model is scripted. */
export function directHost(script: Script, { retries = 1 }: { retries?: number } = {}): Promise<TestHost> {
  return testHost(script, { engine: "direct", retries });
}
