// Follows another host's session, disconnects, and resumes from the last sequence number: no gaps, no repeats.
// prints: broke off after agent.tool_use
// prints: saw every event once: true
// prints: tools called: Bash
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EventOf, type EventType, type Host, type LoggedEvent, openHost } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
// Acts like another process: it shares the store and nothing else.
await using observer = await openHost({ rehearsal: true, home: home.path });

const session = await host.startSession({
  agent: { name: "runner", model: "claude-opus-4-8", tools: ["Bash"], permissions: { allow: ["Bash"] } },
  cwd: scratch.path,
});
const result = session.send("run echo hello").result();

const seen: LoggedEvent[] = [];
await follow(observer, "agent.tool_use");
console.log("broke off after", seen.at(-1)?.type);
await follow(observer, "session.status_idle");
await result;
console.log(
  "saw every event once:",
  seen.every(({ seq }, index) => seq === index + 1),
);

const calls = seen.filter((event): event is EventOf<"agent.tool_use"> & LoggedEvent => event.type === "agent.tool_use");
console.log("tools called:", calls.map((call) => call.name).join(", "));

async function follow(from: Host, until: EventType): Promise<void> {
  const stop = new AbortController();
  const after = seen.at(-1)?.seq ?? 0;
  for await (const item of from.events(session.id, { after, signal: stop.signal })) {
    // Previews have no sequence number, and only the process that runs the session gets them.
    if (!("seq" in item)) continue;
    seen.push(item);
    if (item.type === until) return stop.abort();
  }
}
