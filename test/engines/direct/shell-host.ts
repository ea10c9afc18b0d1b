import { bashTools } from "../../../src/engines/direct/tools/bash.ts";
import { findContainment } from "../../../src/process/containment.ts";
import { Stubs } from "../../../src/sandbox/stubs.ts";

/** A host in a process of its own that runs one command, prints its result and stays. */
const [cwd = "", stateDir = "", command = ""] = process.argv.slice(2);
const { tools } = bashTools({
  sessionId: "session_1",
  cwd,
  stateDir,
  tempDir: stateDir,
  path: "/usr/local/bin:/usr/bin:/bin",
  variables: {},
  containment: await findContainment(),
  confinement: undefined,
  stubs: new Stubs({ stateDir, cwd }),
});
const call = { callId: "call_1", signal: new AbortController().signal, threadId: undefined };
const outcome = await tools[0]?.run({ command }, call);
console.log(JSON.stringify(outcome));
setInterval(() => {}, 60_000);
