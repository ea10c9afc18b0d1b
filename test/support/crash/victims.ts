import { TEST_ENGINE } from "../test-engine.ts";

/** What a campaign can kill. An engine without a process of its own dies with its host. */
export const VICTIMS: readonly ("host" | "engine")[] = TEST_ENGINE === "claude" ? ["host", "engine"] : ["host"];

/** A moment within the turn of the campaign, in milliseconds; `fraction` from 0 to 1. A process takes a while to start. */
export function momentOfTurn(fraction: number): number {
  const first = TEST_ENGINE === "claude" ? 500 : 50;
  return first + Math.floor(fraction * 1_000);
}
