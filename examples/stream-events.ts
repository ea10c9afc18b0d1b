// Streams a turn: previews while the model speaks, and every event once it is stored.
// prints: calls Bash {"command":"echo hello"
// prints: completed: hello
// prints: says: Ran `echo hello`. It printed:
// prints: idle: end_turn
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost, type Preview, type SessionEvent } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
const session = await host.startSession({
  agent: { name: "runner", model: "claude-opus-4-8", tools: ["Bash"], permissions: { allow: ["Bash"] } },
  cwd: scratch.path,
});

for await (const item of session.send("run echo hello")) show(item);

function show(item: SessionEvent | Preview): void {
  switch (item.type) {
    case "event_start":
      // The final event will have this id.
      process.stdout.write("says: ");
      break;
    case "event_delta":
      process.stdout.write(item.delta.content.text);
      break;
    case "capstan.event_withdrawn":
      console.log("\n(taken back: the answer was cut off and is asked for again)");
      break;
    case "agent.message":
      console.log();
      break;
    case "agent.tool_use":
      console.log(`calls ${item.name} ${JSON.stringify(item.input)}`);
      break;
    case "agent.tool_result":
      for (const block of item.content ?? []) if (block.type === "text") console.log(`${item.outcome}: ${block.text}`);
      break;
    case "session.status_idle":
      console.log(`idle: ${item.stop_reason.type}`);
      break;
    default:
      break;
  }
}
