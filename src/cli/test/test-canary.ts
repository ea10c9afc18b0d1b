import { openTests } from "../../app/record/open-tests.ts";
import { otherSdk } from "../../app/record/other-sdk.ts";
import type { ReadSuite } from "../../config/suite/suite-file.ts";
import { type CanaryRequest, runCanary } from "../../eval/compare/canary.ts";
import { canaryText } from "./test-canary-view.ts";
import { testsOptions } from "../target/host.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface CanaryOptions {
  /** A path or a version. */
  readonly sdk: string;
  /** The SDK version that Capstan is built for. */
  readonly pinned: string;
  readonly configuration: ReadSuite["configuration"];
  readonly json: boolean;
}

/** Replays suites on two versions of the SDK and compares them. Returns the exit code. */
export async function canary(
  request: CanaryRequest,
  { sdk: given, pinned, configuration, json }: CanaryOptions,
): Promise<number> {
  const options = testsOptions(configuration);
  const sdk = await otherSdk(given, {
    home: configuration.home,
    path: configuration.environment["PATH"] ?? "",
    onInstall: (directory) => process.stderr.write(`Installing SDK ${given} into ${directory} …\n`),
    signal: request.signal,
  });
  await using tests = await openTests("replay", options);
  await using others = await openTests("replay", { ...options, sdk });
  const run = tests.redact(
    await runCanary(request, { pinned: { sdk: pinned, deps: tests }, other: { sdk: sdk.version, deps: others } }),
  );
  process.stdout.write(json ? `${hiddenFreeJson(run)}\n` : `${canaryText(run)}\n`);
  return run.exitCode;
}
