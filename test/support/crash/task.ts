import type { AgentInput } from "../../../src/core/agent/agent-definition.ts";
import { type Block, call, type ModelRequest, type Reply, say, text, toolUse } from "../scripted-model.ts";
import { TEST_ENGINE } from "../test-engine.ts";

/** The task of the crash campaign: shell commands one by one and in parallel, and a subagent with one of its own. */
export const crashAgent: AgentInput = {
  engine: TEST_ENGINE,
  name: "worker",
  instructions: "Work.",
  model: "claude-opus-4-8",
  tools: ["Bash"],
  permissions: { allow: ["Bash"] },
  subagents: { helper: { description: "helps", instructions: "You are the HELPER.", tools: ["Bash"] } },
};

/** Each leaves one line in effects.txt: run twice, it shows. */
export const EFFECTS = ["A", "B", "C", "D"] as const;

/**
 * A model that looks only at the conversation it is sent: it repeats a step when it is told that it was not run, and
 * takes one whose outcome is unknown for done. A side effect that happens twice is therefore the runtime's doing.
 */
export function crashScript(request: ModelRequest): Reply {
  return { ...nextStep(request), delay: MODEL_MS };
}

/** Slow enough that a kill at a random time falls into the turn. */
const MODEL_MS = 200;

function nextStep(request: ModelRequest): Reply {
  const done = stepsDone(request);
  if (request.agent !== "main") return done.has("B") ? say("The report is ready.") : { blocks: [effect("B")] };
  if (!done.has("A")) return { blocks: [text("I begin."), effect("A")] };
  if (!done.has("agent"))
    return call("Agent", { description: "help", subagent_type: "helper", prompt: "Help with B." });
  const missing = ["C", "D"].filter((name) => !done.has(name));
  return missing.length > 0 ? { blocks: [text("Now the rest."), ...missing.map(effect)] } : say("All is finished.");
}

function stepsDone(request: ModelRequest): Set<string> {
  const blocks = request.body.messages.flatMap((message) =>
    typeof message.content === "string" ? [] : message.content,
  );
  const notRun = new Set(
    blocks
      .filter((block) => block["type"] === "tool_result" && JSON.stringify(block["content"]).includes("[Not run"))
      .map((block) => block["tool_use_id"]),
  );
  const steps = blocks
    .filter((block) => block["type"] === "tool_use" && !notRun.has(block["id"]))
    .map((block) =>
      block["name"] === "Agent" ? "agent" : (/echo (\w)/.exec(JSON.stringify(block["input"]))?.[1] ?? "?"),
    );
  return new Set(steps);
}

function effect(name: string): Block {
  return toolUse("Bash", { command: `sleep 0.05; echo ${name} >> effects.txt` });
}
