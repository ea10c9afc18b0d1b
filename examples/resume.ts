// A session outlives the program: the store keeps it, and you resume it by id, in another directory if you like.
// prints: left: 1 turn, idle
// prints: found: notes for Monday
// prints: resumed: 2 turns, history resumed
import { mkdirSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HostOptions, openHost, type ResumeOptions, type Session } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
const options: HostOptions = { rehearsal: true, home: home.path };

const sessionId = await firstProgram();
await secondProgram(sessionId);

async function firstProgram(): Promise<string> {
  await using host = await openHost(options);
  const session = await host.startSession({
    agent: { name: "clerk", model: "claude-opus-4-8", tools: ["Bash"], permissions: { allow: ["Bash"] } },
    cwd: scratch.path,
    title: "notes for Monday",
  });
  await session.send("run echo one").result();
  console.log(`left: ${session.state.turns} turn, ${session.state.status}`);
  return session.id;
}

async function secondProgram(id: string): Promise<void> {
  await using host = await openHost(options);
  const [newest] = await host.sessions({ limit: 1 });
  console.log("found:", newest?.title);

  const elsewhere = join(scratch.path, "elsewhere");
  mkdirSync(elsewhere);
  // By default, a turn cut off by a crash continues; "stop" ends it with an error instead.
  const resume: ResumeOptions = { cwd: elsewhere, onCrash: "stop" };
  const session: Session = await host.resumeSession(id, resume);
  let history = "";
  for await (const item of session.send("run echo two"))
    if (item.type === "capstan.process_started") history = item.history;
  console.log(`resumed: ${session.state.turns} turns, history ${history}`);
}
