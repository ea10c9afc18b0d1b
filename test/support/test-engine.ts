import { type EngineName, knownEngine } from "../../src/core/agent/engine-name.ts";

/**
 * What runs the agents of a test that name no engine. `npm test` runs most files on `direct`, and those that are about the
 * Claude CLI on `claude`; `npm run test:all` runs the others on `claude` too. See vitest.config.ts.
 */
export const TEST_ENGINE: EngineName = knownEngine(process.env["CAPSTAN_TEST_ENGINE"] ?? "direct") ?? "direct";
