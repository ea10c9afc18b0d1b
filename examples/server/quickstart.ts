// First steps with Anthropic's client.
// CAPSTAN_URL is the server's URL, CAPSTAN_KEY a key from `capstan keys create --role admin`.
// prints: agent.message
// prints: session.status_idle
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.env["CAPSTAN_URL"], apiKey: process.env["CAPSTAN_KEY"] });
const agent = await client.beta.agents.create({ name: "Helper", model: "claude-opus-4-8" });
const environment = await client.beta.environments.create({ name: "empty" });
const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });

const stream = await client.beta.sessions.events.stream(session.id);
await client.beta.sessions.events.send(session.id, {
  events: [{ type: "user.message", content: [{ type: "text", text: "hello" }] }],
});
for await (const event of stream) {
  console.log(event.type);
  if (event.type === "session.status_idle") break;
}
