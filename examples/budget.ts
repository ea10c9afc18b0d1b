// Limits end a turn with their own stop reason, and persist across turns and restarts.
// prints: stopped: budget_reached, because of tool_calls (1 of 1)
// prints: one.txt is there: true, two.txt: false
// prints: tool calls so far: 1
import { existsSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type SessionState, type StopReason } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
const session = await host.startSession({
  agent: {
    name: "runner",
    model: "claude-opus-4-8",
    tools: ["Bash"],
    permissions: { allow: ["Bash"] },
    budget: { usd: 5, tool_calls: 1, deadline_ms: 60_000 },
  },
  cwd: scratch.path,
});
const { stopReason, limit } = await session.send("run touch one.txt then run touch two.txt").result();

const reason: StopReason["type"] = stopReason.type;
console.log(`stopped: ${reason}, because of ${limit?.which} (${limit?.spent} of ${limit?.limit})`);
const there = (file: string): boolean => existsSync(join(scratch.path, file));
console.log(`one.txt is there: ${there("one.txt")}, two.txt: ${there("two.txt")}`);

const state: SessionState = session.state;
console.log("tool calls so far:", state.toolCalls);
