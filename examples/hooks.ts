// Functions that observe what happens and can change or deny it first.
// prints: before_prompt changed
// prints: Bash: echo hello; echo and goodbye
// prints: Bash: completed
// prints: Bash is denied: hook:no deleting (Deleting is not for agents.)
// prints: The message was not sent: No passwords, please.
// prints: turn: end_turn
// prints: session: 2 turns
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AfterTool,
  type BeforePrompt,
  type BeforeTool,
  CapstanError,
  type HookOptions,
  type OnSessionEnd,
  type OnTurnEnd,
  openHost,
  type SessionHooks,
} from "capstan";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });

const noPasswords: BeforePrompt = ({ text }) =>
  text.includes("password") ? { deny: "No passwords, please." } : { text: text.replace("say", "run echo") };
const politely: BeforeTool = ({ input }) =>
  String(input["command"]).startsWith("echo")
    ? { input: { ...input, command: `${String(input["command"])}; echo and goodbye` } }
    : undefined;
const noDeleting: HookOptions<BeforeTool> = {
  name: "no deleting",
  matcher: "Bash(rm *)",
  timeoutMs: 5_000,
  run: () => ({ deny: "Deleting is not for agents." }),
};
const tellOutcome: AfterTool = ({ tool, input, outcome }) => {
  if (outcome === "completed") console.log(`${tool}: ${String(input["command"])}\n${tool}: ${outcome}`);
};
const tellTurn: OnTurnEnd = ({ stopReason }) => console.log(`turn: ${stopReason.type}`);
const tellSession: OnSessionEnd = ({ turns }) => console.log(`session: ${turns} turns`);

const hooks: SessionHooks = {
  beforePrompt: noPasswords,
  beforeTool: [noDeleting, politely],
  afterTool: tellOutcome,
  onTurnEnd: tellTurn,
  onSessionEnd: tellSession,
};
const session = await host.startSession({
  agent: { name: "helper", model: "claude-opus-4-8", tools: ["Bash"], permissions: { allow: ["Bash(echo *)"] } },
  cwd: scratch.path,
  hooks,
});
for (const message of ["say hello", "run rm -rf build", "the password is 1234"]) {
  try {
    await session.send(message).result();
  } catch (error) {
    if (!(error instanceof CapstanError) || error.code !== "hook_denied") throw error;
    console.log(error.message);
  }
}
await session.close();

for (const event of await host.read(session.id)) {
  if (event.type === "capstan.hook_ran") console.log(event.hook, event.outcome);
  if (event.type === "capstan.permission_decided" && event.decision === "deny")
    console.log(`${event.tool} is denied: ${event.decided_by} (${event.reason})`);
}
