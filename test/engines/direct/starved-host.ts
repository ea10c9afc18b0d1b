import { closeSync, openSync } from "node:fs";
import { messageOf } from "../../../src/core/errors.ts";
import { bashTools } from "../../../src/engines/direct/tools/bash.ts";
import { runRipgrep } from "../../../src/engines/direct/tools/search/ripgrep.ts";
import { findContainment } from "../../../src/process/containment.ts";
import { Stubs } from "../../../src/sandbox/stubs.ts";

/** A host with few descriptors: it works with none that is free, then with one, and so on, and prints what came of it. */
const [cwd = "", stateDir = ""] = process.argv.slice(2);
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
const attempt = async (): Promise<{ command: string; search: string }> => {
  const outcome = await tools[0]?.run({ command: "echo up" }, call);
  const search = runRipgrep({ directory: cwd, args: ["--files"] }, call);
  return {
    command: outcome?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "",
    search: await search.then(({ output }) => output, messageOf),
  };
};
const before = await attempt();
const held: number[] = [];
try {
  for (;;) held.push(openSync("/dev/null", "r"));
} catch {
  // All are in use.
}
const starved = [];
for (let free = 0; free < 20; free++) {
  starved.push(await attempt());
  closeSync(held.pop() ?? -1);
}
for (const descriptor of held) closeSync(descriptor);
console.log(JSON.stringify({ before, starved, after: await attempt() }));
