// Sends one message to an agent and prints the answer, with the built-in rehearsal model: no key, no network.
// prints: Wrote note.txt.
// prints: end_turn
import { mkdtempDisposableSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type MessageContent, type ModelUsage, openHost, type TurnResult } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });

const session = await host.startSession({
  agent: {
    name: "clerk",
    instructions: "You keep notes.",
    model: "claude-opus-4-8",
    tools: ["Read", "Write"],
    permissions: { mode: "accept-edits" },
  },
  cwd: scratch.path,
});
// A plain text works too; content blocks can also contain images and documents.
const message: MessageContent = [{ type: "text", text: "write note.txt with Buy milk." }];
const result: TurnResult = await session.send(message).result();

console.log(result.text);
console.log(result.stopReason.type);
const usage: ModelUsage = result.usage;
console.log(`${usage.input_tokens} tokens in, ${usage.output_tokens} out`);
console.log(readFileSync(join(scratch.path, "note.txt"), "utf8"));
