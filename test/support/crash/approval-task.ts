import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { AgentInput } from "../../../src/core/agent/agent-definition.ts";
import type { Tool } from "../../../src/core/ports/tool.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { type Block, type ModelRequest, type Reply, say, toolUse } from "../scripted-model.ts";
import { TEST_ENGINE } from "../test-engine.ts";

/** What the agent asks for, and by which way; each call leaves one line with its name in effects.txt. */
export const SCENARIOS = {
  "one call": { A: "shell" },
  "three calls": { A: "shell", B: "shell", C: "shell" },
  "two subagents": { X: "subagent", Y: "subagent" },
  "a host tool": { A: "host" },
  "a host tool among shell calls": { A: "shell", B: "host", C: "shell" },
} as const satisfies Record<string, Readonly<Record<string, "shell" | "subagent" | "host">>>;

export type Scenario = keyof typeof SCENARIOS;

export const SCENARIO_NAMES = Object.keys(SCENARIOS) as Scenario[];

/** Nothing is allowed by a rule: every command and every call of the host's tool asks. */
export const approvalAgent: AgentInput = {
  engine: TEST_ENGINE,
  name: "asker",
  instructions: "Work.",
  model: "claude-opus-4-8",
  tools: ["Bash"],
  subagents: { helper: { description: "helps", instructions: "You are the HELPER.", tools: ["Bash"] } },
};

/** Slow enough that a kill may fall into a model request, and into a running tool. */
const MODEL_MS = 80;
/** The effect comes soon, and the call runs on: one that is struck and run again shows twice. */
const BEFORE_MS = 10;
const AFTER_MS = 150;

/** The host's own tool; like the commands it leaves one line. */
export function recordTool(cwd: string): Tool {
  return defineTool({
    name: "record",
    description: "Records a name",
    input: z.object({ name: z.string() }),
    handler: async ({ name }) => {
      await sleep(BEFORE_MS);
      appendFileSync(join(cwd, "effects.txt"), `${name}\n`);
      await sleep(AFTER_MS);
      return `recorded ${name}`;
    },
  });
}

/** The effect that a call would have; undefined for one that has none of its own. */
export function effectOf(input: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof input["command"] === "string") return /echo (\w) /.exec(input["command"])?.[1];
  return typeof input["name"] === "string" ? input["name"] : undefined;
}

/** The effect that a call gives to a subagent to bring about. */
export function taskIn(input: Readonly<Record<string, unknown>>): string | undefined {
  return /Help with (\w)/.exec(String(input["prompt"]))?.[1];
}

/**
 * A model that looks only at the conversation it is sent: it repeats a step when it is told that it was not run, and
 * takes one whose outcome is unknown, or that was denied, for done.
 */
export function approvalScript(scenario: Scenario): (request: ModelRequest) => Reply {
  const names = Object.entries(SCENARIOS[scenario]);
  return (request) => {
    const done = stepsDone(request);
    // A subagent that is driven alone is not named in its requests: its task tells it apart.
    const task = taskIn({ prompt: firstText(request) });
    const wanted = task === undefined ? names : [[task, "shell"] as const];
    const missing = wanted.filter(([name]) => !done.has(name));
    const last = task === undefined ? "All is finished." : `Report on ${task}.`;
    if (missing.length === 0) return say(last, { delay: MODEL_MS });
    return { blocks: missing.map(([name, way]) => step(name, way)), delay: MODEL_MS };
  };
}

function step(name: string, way: "shell" | "subagent" | "host"): Block {
  if (way === "host") return toolUse("mcp__capstan__record", { name });
  const command = `sleep ${BEFORE_MS / 1000}; echo ${name} >> effects.txt; sleep ${AFTER_MS / 1000}`;
  if (way === "shell") return toolUse("Bash", { command });
  return toolUse("Agent", { description: "help", subagent_type: "helper", prompt: `Help with ${name}` });
}

function stepsDone(request: ModelRequest): Set<string> {
  const blocks = request.body.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const notRun = new Set(
    blocks
      .filter((block) => block["type"] === "tool_result" && JSON.stringify(block["content"]).includes("[Not run"))
      .map((block) => block["tool_use_id"]),
  );
  const steps = blocks
    .filter((block) => block["type"] === "tool_use" && !notRun.has(block["id"]))
    .map((block) => block["input"] as Record<string, unknown>);
  return new Set(steps.map((input) => effectOf(input) ?? taskIn(input) ?? "?"));
}

function firstText(request: ModelRequest): string {
  return JSON.stringify(request.body.messages[0]?.content ?? "");
}
