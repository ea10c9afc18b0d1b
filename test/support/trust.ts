import { type Configuration, loadConfiguration, type LoadOptions, type Trusting } from "../../src/config/load.ts";
import { readSuite } from "../../src/config/suite/suite-file.ts";
import { isSuiteFile } from "../../src/config/suite/suite-names.ts";
import { TrustBook } from "../../src/config/trust/trust-book.ts";
import { resolve } from "node:path";

/** As if a person had trusted whatever is there. */
export const EVERYTHING: Trusting = { isTrusted: () => true };

/** The configuration of someone who trusts the project, unless they say otherwise. */
export function loadTrusted(options: LoadOptions): Promise<Configuration> {
  return loadConfiguration({ trust: EVERYTHING, ...options });
}

/** Records what `capstan trust --yes` would: the project's files, and the agents and suites that are named. */
export async function recordTrust(
  { cwd, environment }: Pick<LoadOptions, "cwd" | "environment">,
  ...files: readonly string[]
): Promise<void> {
  const found = [...(await loadTrusted({ cwd, environment, flags: {} })).trust];
  const { home } = await loadTrusted({ cwd, environment, flags: {} });
  for (const file of files.map((one) => resolve(cwd, one))) {
    const loaded = isSuiteFile(file) ? await readSuite(file, environment, EVERYTHING) : undefined;
    const agent = loaded ?? (await loadTrusted({ cwd, environment, flags: {}, agentFile: file }));
    found.push(...agent.trust);
    if ("agentFile" in agent && agent.agentFile?.hasTests === true)
      found.push(...(await readSuite(file, environment, EVERYTHING)).trust);
  }
  const book = new TrustBook(home);
  for (const { item } of found) book.add(item, "a test", new Date());
}
