import { errorType } from "../answer.ts";
import {
  type FinishedCall,
  type MessagesRequest,
  ownSubagents,
  readConversation,
  type SubagentKind,
  type RehearsalTool,
} from "./rehearsal-conversation.ts";
import { readSteps, type RehearsalStep } from "./rehearsal-steps.ts";
import { valueFor } from "./rehearsal-value.ts";

export type RehearsalReply =
  | { readonly text: string; readonly thinking?: string }
  | { readonly calls: readonly ToolCall[]; readonly thinking?: string }
  | { readonly error: RehearsalError };

export interface ToolCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

interface RehearsalError {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

/** The context of a step: its calls so far, and the available tools. */
interface Stage {
  readonly made: readonly FinishedCall[];
  readonly tools: readonly RehearsalTool[];
  readonly subagents: readonly SubagentKind[];
}

/** What a step does next: calls, an end that the step reports, or an end of the whole request. */
type Move =
  | { readonly calls: readonly ToolCall[] }
  | { readonly done: string; readonly thought?: string }
  | { readonly stop: string }
  | { readonly error: RehearsalError };

/** What it can do, and the tools of which it needs one. */
const ABILITIES: readonly (readonly [text: string, ...tools: string[]])[] = [
  ["list files", "Glob", "Bash"],
  ["read FILE", "Read"],
  ["write FILE with TEXT", "Write"],
  ["edit FILE, or: replace OLD with NEW in FILE", "Edit"],
  ["run COMMAND", "Bash"],
  ['use TOOL, or: use TOOL with {"JSON": "input"}'],
  ["ask me: tea or coffee?", "AskUserQuestion"],
  ["review FILE with two subagents", "Agent"],
  ["return structured output", "StructuredOutput"],
  ["think about SOMETHING"],
  ["fail, or: fail with 529"],
];

function help(tools: readonly RehearsalTool[]): string {
  return [
    "I am Capstan's rehearsal model: a script that needs no key and no network, but calls the real tools. Ask me to:",
    ...ABILITIES.filter(([, ...needed]) => needed.length === 0 || needed.some((name) => hasTool(tools, name))).map(
      ([text]) => `- ${text}`,
    ),
    "",
    'Several of these can be joined by "then".',
  ].join("\n");
}

const STRUCTURED_OUTPUT = "StructuredOutput";

/**
 * The rehearsal model's answer to a request. The progress is in the conversation: the steps are replayed from the first
 * one over the calls already made, until one of them needs a new call.
 */
export function rehearse(request: MessagesRequest): RehearsalReply {
  const { request: asked, calls } = readConversation(request.messages ?? []);
  if (/Respond with TEXT ONLY/.test(asked))
    return { text: "<summary>A rehearsal; nothing in it has to be kept.</summary>" };
  const tools = request.tools ?? [];
  const subagents = ownSubagents(request);
  const rest = [...calls];
  const reports: string[] = [];
  let thought: string | undefined;
  for (const step of readSteps(asked) ?? []) {
    const made: FinishedCall[] = [];
    for (;;) {
      const move = nextMove(step, { made, tools, subagents });
      if ("error" in move) return move;
      if ("calls" in move) {
        const missing = move.calls.find(({ name }) => !hasTool(tools, name));
        if (missing !== undefined) return close([...reports, unavailable(missing.name)], { tools, rest });
        if (rest.length < move.calls.length) return { calls: move.calls, ...(made.length === 0 && thinking(thought)) };
        made.push(...rest.splice(0, move.calls.length));
        continue;
      }
      if ("stop" in move) return close([...reports, move.stop], { tools, rest });
      reports.push(move.done);
      thought = move.thought;
      break;
    }
  }
  return close(reports, { tools, rest, thought });
}

function close(
  reports: readonly string[],
  {
    tools,
    rest,
    thought,
  }: { tools: readonly RehearsalTool[]; rest: readonly FinishedCall[]; thought?: string | undefined },
): RehearsalReply {
  const structured = tools.find(({ name }) => name === STRUCTURED_OUTPUT);
  const returned = rest.some(({ name }) => name === STRUCTURED_OUTPUT);
  if (structured !== undefined && !returned) {
    const input = valueFor(structured.input_schema ?? {}) as ToolCall["input"];
    return { calls: [{ name: STRUCTURED_OUTPUT, input }], ...thinking(thought) };
  }
  return { text: reports.join("\n\n") || help(tools), ...thinking(thought) };
}

function nextMove(step: RehearsalStep, { made, tools, subagents }: Stage): Move {
  const failed = made.find((call) => call.failed);
  if (failed !== undefined) return { stop: `${failed.name} did not work, so I stop here: ${excerpt(failed.result)}` };
  const result = made.at(-1)?.result;
  switch (step.kind) {
    case "list":
      return result === undefined ? listCall(step.directory, tools) : { done: `Files:\n${excerpt(result)}` };
    case "read":
      if (result === undefined) return call("Read", { file_path: step.file });
      return { done: `${step.file} says:\n${excerpt(result)}` };
    case "write":
      if (result === undefined) return call("Write", { file_path: step.file, content: step.text });
      return { done: `Wrote ${step.file}.` };
    case "edit":
      return editMove(step, made);
    case "run":
      if (result === undefined) return call("Bash", { command: step.command, description: "Rehearsal command" });
      return { done: `Ran \`${step.command}\`. It printed:\n${excerpt(result)}` };
    case "use": {
      if (result !== undefined) return { done: `${step.tool} said:\n${excerpt(result)}` };
      // Tools of the host and of MCP servers have their server's name as a prefix.
      const tool = tools.find(({ name }) => name === step.tool || name.endsWith(`__${step.tool}`));
      if (tool === undefined) return { stop: unavailable(step.tool) };
      return call(tool.name, step.input ?? (valueFor(tool.input_schema ?? {}) as ToolCall["input"]));
    }
    case "ask":
      return result === undefined ? questionCall(step) : { done: `You answered: ${answerIn(result)}` };
    case "review":
      if (made.length === 0) return reviewCalls(step.file, { tools, subagents });
      return { done: made.map((call) => /Report on [^\n]*/.exec(call.result)?.[0] ?? excerpt(call.result)).join("\n") };
    case "report":
      return { done: `Report on ${step.about}: looked at, and not judged, because this is a rehearsal.` };
    case "think":
      return {
        done: `Thought about ${step.about}.`,
        thought: `I am to think about ${step.about}. This is a rehearsal.`,
      };
    case "structure":
      return { done: hasTool(tools, STRUCTURED_OUTPUT) ? "Returned." : unavailable(STRUCTURED_OUTPUT) };
    case "fail":
      return { error: failure(step.status) };
  }
}

function listCall(directory: string | undefined, tools: readonly RehearsalTool[]): Move {
  if (hasTool(tools, "Glob"))
    return call("Glob", { pattern: "**/*", ...(directory !== undefined && { path: directory }) });
  const command = directory === undefined ? "ls" : `ls -- '${directory.replaceAll("'", String.raw`'\''`)}'`;
  return call("Bash", { command, description: "List files" });
}

/** The tool edits only what was read before. */
function editMove(step: RehearsalStep & { kind: "edit" }, made: readonly FinishedCall[]): Move {
  const { file, from, to } = step;
  const [read, edited] = made;
  if (read === undefined) return call("Read", { file_path: file });
  if (edited !== undefined) return { done: `Edited ${file}.` };
  if (from !== undefined) return call("Edit", { file_path: file, old_string: from, new_string: to });
  // Read numbers the lines: "1<tab>text" or "1→text".
  const line = /^\s*\d+[\t→](.*\S.*)$/m.exec(read.result)?.[1];
  if (line === undefined) return { stop: `${file} has no line that I could edit.` };
  return call("Edit", { file_path: file, old_string: line, new_string: `${line} (edited in rehearsal)` });
}

function questionCall({ question, options }: RehearsalStep & { kind: "ask" }): Move {
  const choices = options.map((label) => ({ label, description: `Go on with: ${label}` }));
  return call("AskUserQuestion", {
    questions: [{ question, header: "Rehearsal", options: choices, multiSelect: false }],
  });
}

/** All in one answer, so that they run in parallel. */
function reviewCalls(file: string | undefined, { tools, subagents }: Omit<Stage, "made">): Move {
  const agent = tools.find(({ name }) => name === "Agent");
  const look = file === undefined ? "list files" : `read ${file}`;
  // Where the tool can run a subagent in the background, that is its default.
  const waits = JSON.stringify(agent?.input_schema ?? {}).includes('"run_in_background"');
  const calls = reviewers(subagents).map(({ aspect, kind }) => ({
    name: "Agent",
    input: {
      description: `Review for ${aspect}`,
      prompt: `${look}, then report on ${aspect}`,
      ...(kind !== undefined && { subagent_type: kind }),
      ...(waits && { run_in_background: false }),
    },
  }));
  return { calls };
}

const ASPECTS = ["correctness", "clarity"];
const MAX_REVIEWERS = 4;

/** The agent's own reviewers; if no subagent says that it is one, all of them; two of any kind if it has none. */
function reviewers(
  subagents: readonly SubagentKind[],
): readonly { readonly aspect: string; readonly kind: string | undefined }[] {
  const fitting = subagents.filter(({ name, about }) => /review|audit|check|find/i.test(`${name} ${about}`));
  const [only, ...others] = (fitting.length > 0 ? fitting : subagents).slice(0, MAX_REVIEWERS);
  if (only === undefined || others.length === 0) return ASPECTS.map((aspect) => ({ aspect, kind: only?.name }));
  // A "security-reviewer" looks at security.
  return [only, ...others].map(({ name }) => ({
    aspect: name.replace(/-(?:reviewer|auditor|checker)$/, ""),
    kind: name,
  }));
}

function call(name: string, input: ToolCall["input"]): Move {
  return { calls: [{ name, input }] };
}

function hasTool(tools: readonly RehearsalTool[], name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

function unavailable(name: string): string {
  return `I would need the tool ${name} for that, and this session does not have it.`;
}

function failure(status: number): RehearsalError {
  return { status, type: errorType(status), message: "The rehearsal model failed on purpose, as asked." };
}

function answerIn(result: string): string {
  return /="([^"]*)"/.exec(result)?.[1] ?? excerpt(result);
}

function excerpt(result: string): string {
  const limit = 600;
  return result.length > limit ? `${result.slice(0, limit)} …` : result;
}

function thinking(thought: string | undefined): { readonly thinking?: string } {
  return thought === undefined ? {} : { thinking: thought };
}
