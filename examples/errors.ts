// Every failure is a CapstanError with a code, facts for programs, and a message that says what to do next.
// prints: invalid_agent (exit code 2)
// prints: tempertaure
// prints: model_failed (exit code 1)
// prints: the session goes on: idle, then end_turn
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentDefinition, type AgentInput, CapstanError, type ErrorCode, openHost, parseAgent } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });

// As if read from a file: unknown keys are errors.
const written: unknown = JSON.parse('{ "name": "clerk", "model": "claude-opus-4-8", "tempertaure": 1 }');
await tell(async () => parseAgent(written));

const input: AgentInput = { name: "clerk", model: "claude-opus-4-8" };
const agent: AgentDefinition = parseAgent(input);
const session = await host.startSession({ agent, cwd: scratch.path });
await tell(() => session.send("fail with 400").result());

const { status } = session.state;
const { stopReason } = await session.send("think about tea").result();
console.log(`the session goes on: ${status}, then ${stopReason.type}`);

async function tell(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CapstanError)) throw error;
    const code: ErrorCode = error.code;
    console.log(`${code} (exit code ${error.exitCode}): ${error.message}`);
  }
}
