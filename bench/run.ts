import { cpus, loadavg } from "node:os";
import { temporaryDirectory } from "../test/support/host.ts";
import { chatKeys } from "./chat.ts";
import { checkpointCost } from "./checkpoint.ts";
import { commands } from "./cli.ts";
import { consoleSpeed } from "./console.ts";
import { directCalls } from "./direct/calls.ts";
import { directMemory } from "./direct/memory.ts";
import { directTurns } from "./direct/turns.ts";
import { gatewayCost } from "./gateway.ts";
import { hostileViewer } from "./hostile-viewer/latency.ts";
import { laterTurn } from "./later-turn.ts";
import { longLog } from "./long-log.ts";
import { openedSession } from "./opened-session.ts";
import { permission } from "./permission.ts";
import { processesIn } from "./processes-in.ts";
import type { BenchCase, Row } from "./row.ts";
import { serverLoad } from "./server-load.ts";
import { serverTurns } from "./server-turns.ts";
import { storeAppends } from "./store.ts";
import { suites } from "./suites.ts";
import { table } from "./table.ts";
import { toolGate } from "./tool-gate.ts";
import { wokenSession } from "./woken-session.ts";
import { worktree } from "./worktree.ts";

/**
 * Every figure is a ratio within one run, of samples taken alternately, because the machine is never quiet.
 * Arguments name the cases to run (default: all, which takes about twelve minutes).
 */
const CASES: readonly BenchCase[] = [
  directTurns,
  directCalls,
  directMemory,
  laterTurn,
  openedSession,
  wokenSession,
  longLog,
  storeAppends,
  gatewayCost,
  commands,
  chatKeys,
  suites,
  permission,
  toolGate,
  checkpointCost,
  worktree,
  serverTurns,
  serverLoad,
  hostileViewer,
  consoleSpeed,
];

async function main(names: readonly string[]): Promise<boolean> {
  const unknown = names.filter((name) => !CASES.some((known) => known.name === name));
  if (unknown.length > 0) {
    console.error(`There is no case ${unknown.join(", ")}. Known: ${CASES.map(({ name }) => name).join(", ")}.`);
    return false;
  }
  using directory = temporaryDirectory();
  // Holds the temporary files of the cases, the SDK and the agents, and is removed at the end.
  process.env["TMPDIR"] = directory.path;
  const rows: Row[] = [];
  for (const { name, run } of CASES) {
    if (names.length > 0 && !names.includes(name)) continue;
    const started = performance.now();
    rows.push(...(await run()));
    console.error(`${name}: ${Math.round((performance.now() - started) / 1_000)} s`);
  }
  const remaining = await processesIn(directory.path);
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(`\n${cpus().length} cores, load ${load.join(" ")}, Node ${process.version}\n\n${table(rows)}`);
  if (remaining.length > 0) console.error(`\nProcesses left behind: ${remaining.join(", ")}`);
  return remaining.length === 0 && rows.every(({ verdict }) => verdict !== "MISSED");
}

process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
