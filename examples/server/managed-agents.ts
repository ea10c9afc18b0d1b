// Runs an agent on a Capstan server with Anthropic's client.
// ANTHROPIC_BASE_URL is the server's URL, ANTHROPIC_API_KEY a key from `capstan keys create --role admin`.
// prints: Bash wants to run: echo hello
// prints: hello
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic();
const agent = await client.beta.agents.create({
  name: "Helper",
  model: "claude-opus-4-8",
  system: "You help with small tasks.",
  tools: [{ type: "agent_toolset_20260401" }],
});
const environment = await client.beta.environments.create({ name: "empty" });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: "user.message", content: [{ type: "text", text: "run echo hello" }] }],
});
for await (const event of stream) {
  if (event.type === "agent.tool_use") console.log(`${event.name} wants to run: ${String(event.input["command"])}`);
  if (event.type === "agent.message")
    for (const block of event.content) if (block.type === "text") console.log(block.text);
  if (event.type !== "session.status_idle") continue;
  if (event.stop_reason.type !== "requires_action") break;
  // Calls that no rule allows wait for approval.
  await client.beta.sessions.events.send(session.id, {
    events: event.stop_reason.event_ids.map((id) => ({
      type: "user.tool_confirmation",
      tool_use_id: id,
      result: "allow",
    })),
  });
}
await client.beta.sessions.archive(session.id);
