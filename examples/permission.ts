// If no rule decides a call, this program does: it can allow, change or deny the call.
// prints: Write runs: mode:accept-edits
// prints: Bash asks: default:ask
// prints: Bash runs: person:example
// prints: Ran `echo hello`. It printed:
// prints: hello from the gate
// prints: Bash is denied: person:example (Deleting is not for agents.)
// prints: Write is denied: mode:read-only
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AskPermission, type Mode, openHost, type PermissionAnswer, type PermissionQuestion } from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });

function answer({ input }: PermissionQuestion): PermissionAnswer {
  const command = String(input["command"]);
  if (command.startsWith("rm ")) return { behavior: "deny", message: "Deleting is not for agents.", by: "example" };
  return { behavior: "allow", input: { ...input, command: `${command} from the gate` }, by: "example" };
}
/** Can take as long as a person needs; `question.signal` aborts if the call is canceled. */
const askPermission: AskPermission = async (question) => {
  console.log(`${question.tool} asks: ${question.askedBy}`);
  return answer(question);
};

const session = await host.startSession({
  agent: {
    name: "helper",
    model: "claude-opus-4-8",
    tools: ["Bash", "Write"],
    permissions: { mode: "accept-edits", deny: ["WebFetch"] },
  },
  cwd: scratch.path,
  askPermission,
});
await say("write a.txt with A");
await say("run echo hello");
await say("run rm -rf build");
const mode: Mode = "read-only";
await session.setMode(mode);
await say("write b.txt with B");

async function say(message: string): Promise<void> {
  const turn = session.send(message);
  for await (const item of turn) {
    if (item.type !== "capstan.permission_decided") continue;
    if (item.decision === "allow") console.log(`${item.tool} runs: ${item.decided_by}`);
    else console.log(`${item.tool} is denied: ${item.decided_by} (${item.reason})`);
  }
  const { text } = await turn.result();
  console.log(text);
}
