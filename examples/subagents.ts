// Subagents work in parallel, each on its own thread in the session.
// prints: Review for correctness: general-purpose
// prints: Report on correctness
// prints: Report on clarity
// prints: 2 threads, all idle: true
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
writeFileSync(join(scratch.path, "plan.md"), "Buy milk.\n");
const session = await host.startSession({
  agent: {
    name: "lead",
    model: "claude-opus-4-8",
    tools: ["Agent", "Read"],
  },
  cwd: scratch.path,
});

const turn = session.send("review plan.md with two subagents");
for await (const item of turn)
  if (item.type === "session.thread_created") console.log(`${item.task}: ${item.agent_name}`);
console.log((await turn.result()).text);

const threads = Object.values(session.state.threads);
console.log(`${threads.length} threads, all idle: ${threads.every((thread) => thread.status === "idle")}`);
