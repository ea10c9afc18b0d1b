// Continues one conversation in two ways: a fork starts with another session's history up to a point in its log.
// prints: the parent has 2 turns
// prints: the fork has 1 turn of its own and spent less
// prints: it came from the parent: true
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ForkOptions, openHost, type SessionOptions, type SessionRecord, type SessionSummary } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });
// Tools, variables and `askPermission` belong to the program; pass them to every session.
const given: SessionOptions = { askPermission: () => ({ behavior: "allow" }) };

const parent = await host.startSession({
  agent: { name: "clerk", model: "claude-opus-4-8", tools: ["Bash"] },
  cwd: scratch.path,
  ...given,
});
await parent.send("run echo together").result();
const here = (await host.read(parent.id)).at(-1)?.seq ?? 0;
await parent.send("run echo only in the parent").result();

const options: ForkOptions = { ...given, at: here };
const fork = await host.forkSession(parent.id, options);
await fork.send("run echo only in the fork").result();

console.log(`the parent has ${parent.state.turns} turns`);
const less = fork.state.usd < parent.state.usd ? "less" : "more";
console.log(`the fork has ${fork.state.turns} turn of its own and spent ${less}`);
const newest: readonly SessionSummary[] = await host.sessions({ limit: 1 });
console.log("last active:", newest[0]?.id === fork.id ? "the fork" : "the parent");
const record: SessionRecord = fork.record;
console.log("it came from the parent:", record.forkedFrom?.sessionId === parent.id);
