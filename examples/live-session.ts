// Changes a live session: its model, mode, context and process.
// prints: model: claude-haiku-4-5, mode: plan
// prints: compacted: manual
// prints: woken up: history resumed
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
const session = await host.startSession({
  agent: { name: "thinker", model: "claude-opus-4-8" },
  cwd: scratch.path,
});
await session.send("think about tea").result();

await session.setModel("claude-haiku-4-5");
await session.setMode("plan");
await session.send("think about coffee").result();
console.log(`model: ${session.state.model}, mode: ${session.mode}`);

// From here on, the model sees a summary. The log keeps everything.
for await (const item of session.compact())
  if (item.type === "agent.thread_context_compacted") console.log("compacted:", item.trigger);

// Ends the agent process. The next message starts a new one; `warm` starts it early.
await session.hibernate();
session.warm();
for await (const item of session.send("think about milk"))
  if (item.type === "capstan.process_started") console.log("woken up: history", item.history);
