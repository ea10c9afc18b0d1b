// What a person would write to get an answer with the bare SDK: the baseline for `capstan run`.
import { query } from "@anthropic-ai/claude-agent-sdk";

const [prompt] = process.argv.slice(2);
const options = {
  model: "claude-opus-4-8",
  tools: ["Read", "Glob", "Grep", "Write", "Edit", "Bash"],
  settingSources: [],
  includePartialMessages: true,
};
for await (const message of query({ prompt, options }))
  if (message.type === "stream_event" && message.event.delta?.type === "text_delta")
    process.stdout.write(message.event.delta.text);
