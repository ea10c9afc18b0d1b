// Stops a turn while a command runs. The work so far is kept, and the session continues.
// prints: the command was aborted
// prints: stopped: end_turn
// prints: and goes on: Ran `echo still here`.
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type Turn } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
const session = await host.startSession({
  agent: { name: "runner", model: "claude-opus-4-8", tools: ["Bash"], permissions: { allow: ["Bash"] } },
  cwd: scratch.path,
});

const turn: Turn = session.send("run sleep 600");
let interrupted: Promise<void> | undefined;
for await (const item of turn) {
  // The command was allowed and is about to run.
  if (item.type === "capstan.permission_decided") interrupted = session.interrupt();
  if (item.type === "agent.tool_result") console.log(`the command was ${item.outcome}`);
}
// Resolves when the session is idle.
await interrupted;
console.log("stopped:", (await turn.result()).stopReason.type);
console.log("and goes on:", (await session.send("run echo still here").result()).text);
