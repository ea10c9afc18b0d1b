import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { threadId } from "../../core/ports/clock.ts";
import type { HistoryItem } from "../../core/session/history.ts";
import { GENERAL_SUBAGENT } from "../../core/rules/tool-names.ts";
import { traitsOf } from "../builtin-tools.ts";
import { SKILL_TOOL } from "../skills.ts";
import { readToolName } from "../tool-names.ts";
import { conversationItem } from "./line/conversation.ts";
import { Line } from "./line/line.ts";
import type { Workplace } from "./line/workplace.ts";
import type { SystemPrompt } from "./model/request.ts";
import { type BuiltinCall, type BuiltinOutcome, type BuiltinTool, textOutcome } from "./tools/builtin-tool.ts";
import { skillList } from "./tools/skill.ts";
import { webSearchTool } from "./tools/web-search.ts";

/** How deep subagents may be nested. */
const MAX_DEPTH = 5;
/** The subagent that an agent with `Agent` in its tools can start in addition to its own. */
const GENERAL: AgentDefinition["subagents"][string] = {
  description: "for any task; it has the same tools",
  instructions:
    "You are a subagent. Work on the task that you are given, by yourself and to its end. Then report once what was found or done: your report is all that the agent which gave you the task gets to see.",
};
/** Tools of the primary thread only: a subagent can't ask a person. */
const OF_THE_PRIMARY_LINE = ["AskUserQuestion"];

/** The thread that starts a subagent. */
export interface Parent {
  readonly depth: number;
  readonly agentId?: string | undefined;
  readonly threadId?: string | undefined;
  /** The event that announced a call of this thread. */
  readonly eventOf: (callId: string) => string;
}

interface Started {
  readonly agentId: string;
  readonly name: string;
  readonly depth: number;
  line: Line | undefined;
  isAtWork: boolean;
}

/** The subagents of one session. Each has its own thread and can receive further messages. */
export class Subagents {
  readonly #place: Workplace;
  readonly #model: () => string;
  readonly #started = new Map<string, Started>();
  readonly #kinds: AgentDefinition["subagents"];

  /** `model` is the session's, for subagents that set none. */
  constructor(place: Workplace, model: () => string) {
    this.#place = place;
    this.#model = model;
    const { tools, subagents } = place.request.agent;
    this.#kinds = { ...(tools.includes("Agent") && { [GENERAL_SUBAGENT]: GENERAL }), ...subagents };
    for (const { engineAgentId: agentId, name, depth } of place.request.subagents)
      this.#started.set(agentId, { agentId, name, depth, line: undefined, isAtWork: false });
  }

  /**
   * The tools for starting subagents and sending them messages. Empty if there are no subagents, or the thread is
   * nested too deep.
   */
  tools(parent: Parent): readonly BuiltinTool[] {
    if (Object.keys(this.#kinds).length === 0 || parent.depth >= MAX_DEPTH) return [];
    const list = Object.entries(this.#kinds).map(([name, { description }]) => `- ${name}: ${description}`);
    return [
      {
        name: "Agent",
        description: `Give a task to a subagent, which works on it by itself and reports back once. It knows nothing of this conversation: the prompt must say everything it needs. Several can work at the same time when they are called in one answer.\n\nAvailable agent types:\n${list.join("\n")}`,
        inputSchema: AGENT_SCHEMA,
        traits: traitsOf("Agent"),
        run: (input, call) => this.#start(input, call, parent),
      },
      {
        name: "SendMessage",
        description:
          "Say something to a subagent that was started before and has reported back. It knows its earlier work, and reports back again.",
        inputSchema: MESSAGE_SCHEMA,
        traits: traitsOf("SendMessage"),
        run: (input, call) => this.#speakTo(input, call, parent),
      },
    ];
  }

  /** The thread of a subagent that the session drives alone. */
  lineOf({
    agentId,
    name,
    history,
  }: {
    readonly agentId: string;
    readonly name: string;
    readonly history: readonly HistoryItem[];
  }): Line {
    const depth = this.#started.get(agentId)?.depth ?? 1;
    return this.#newLine({ agentId, name, depth }, history.map(conversationItem), undefined);
  }

  async #start(
    { subagent_type: type, prompt, description }: BuiltinInput,
    call: BuiltinCall,
    parent: Parent,
  ): Promise<BuiltinOutcome> {
    const { request, host } = this.#place;
    const name = typeof type === "string" ? type : GENERAL_SUBAGENT;
    if (!Object.hasOwn(this.#kinds, name))
      return textOutcome(`Unknown subagent ${name}. Use one of: ${Object.keys(this.#kinds).join(", ")}.`, true);
    const agentId = `a${host.newEventId().slice("sevt_".length)}`;
    const started: Started = { agentId, name, depth: parent.depth + 1, line: undefined, isAtWork: true };
    this.#started.set(agentId, started);
    await host.emit({
      kind: "event",
      draft: {
        type: "session.thread_created",
        session_thread_id: threadId(request.sessionId, agentId),
        agent_name: name,
        workflow_run_id: null,
        parent_thread_id: parent.threadId ?? null,
        call_id: call.callId,
        task: String(description),
      },
    });
    started.line = this.#newLine(started, [], parent.agentId);
    return this.#work(started, { text: String(prompt), eventId: parent.eventOf(call.callId), signal: call.signal });
  }

  async #speakTo({ to, message }: BuiltinInput, call: BuiltinCall, parent: Parent): Promise<BuiltinOutcome> {
    const { request, host } = this.#place;
    const all = [...this.#started.values()];
    const started = this.#started.get(String(to)) ?? all.findLast(({ name }) => name === to);
    if (started === undefined || !Object.hasOwn(this.#kinds, started.name))
      return textOutcome(`No subagent ${String(to)} was started. Start one with Agent.`, true);
    if (started.isAtWork)
      return textOutcome(`The subagent ${started.agentId} is still working. Wait until it reports back.`, true);
    started.isAtWork = true;
    const thread = threadId(request.sessionId, started.agentId);
    started.line ??= this.#newLine(started, (await request.lineHistory(thread)).map(conversationItem), parent.agentId);
    await host.emit({
      kind: "event",
      draft: {
        type: "session.thread_status_running",
        session_thread_id: thread,
        agent_name: started.name,
        call_id: call.callId,
      },
    });
    return this.#work(started, { text: String(message), eventId: parent.eventOf(call.callId), signal: call.signal });
  }

  async #work(
    started: Started,
    { text, eventId, signal }: { readonly text: string; readonly eventId: string; readonly signal: AbortSignal },
  ): Promise<BuiltinOutcome> {
    const { host, request } = this.#place;
    const { line, agentId, name } = started;
    if (line === undefined) return textOutcome(`The subagent ${agentId} can no longer continue.`, true);
    line.add({ kind: "user", eventId, content: [{ type: "text", text }] });
    try {
      const end = await line.run(signal);
      // The end of the turn settles its threads.
      if (end.outcome === "interrupted")
        return textOutcome("[Interrupted: the subagent was stopped before it had finished.]", true);
      const isDone = end.outcome === "completed";
      await host.emit({
        kind: "event",
        draft: {
          type: "session.thread_status_idle",
          session_thread_id: threadId(request.sessionId, agentId),
          agent_name: name,
          stop_reason: { type: isDone ? "end_turn" : end.outcome === "refused" ? "refusal" : "retries_exhausted" },
          stop_details: null,
        },
      });
      const why = end.error?.message ?? `It ended: ${end.outcome}.`;
      const said = isDone ? end.text || "[The subagent had nothing to say.]" : `[The subagent failed: ${why}]`;
      const hint = `agentId: ${agentId} (use SendMessage with to: "${agentId}" to continue with this subagent)`;
      return {
        content: [
          { type: "text", text: said },
          { type: "text", text: hint },
        ],
        isError: !isDone,
      };
    } finally {
      started.isAtWork = false;
    }
  }

  #newLine(
    { agentId, name, depth }: Pick<Started, "agentId" | "name" | "depth">,
    items: ConstructorParameters<typeof Line>[2],
    parentAgentId: string | undefined,
  ): Line {
    const { request } = this.#place;
    const own = this.#kinds[name];
    const thread = threadId(request.sessionId, agentId);
    const model = (): string => (own?.model === undefined || own.model === "inherit" ? this.#model() : own.model);
    const search = webSearchTool(this.#place, { threadId: thread, agentId, parentAgentId, model });
    const tools = (): readonly BuiltinTool[] =>
      this.#toolsOf(own?.tools, [search], { agentId, threadId: thread, depth, eventOf: (id) => line.eventOf(id) });
    const line: Line = new Line(
      this.#place,
      {
        threadId: thread,
        agentId,
        parentAgentId,
        system: () => this.#promptOf(name, tools()),
        model,
        tools,
      },
      items,
    );
    return line;
  }

  #promptOf(name: string, tools: readonly BuiltinTool[]): SystemPrompt {
    const { agent } = this.#place.request;
    const skills = tools.some((tool) => tool.name === SKILL_TOOL) ? skillList(agent) : "";
    return [this.#kinds[name]?.instructions ?? "", skills].filter((text) => text !== "");
  }

  /** `own` are the tools created for this thread. */
  #toolsOf(listed: readonly string[] | undefined, own: readonly BuiltinTool[], parent: Parent): readonly BuiltinTool[] {
    const { session, request } = this.#place;
    const delegating = this.tools(parent);
    const all = [...session.tools, ...own];
    if (listed !== undefined) return [...all, ...delegating].filter(({ name }) => listed.includes(listedAs(name)));
    const inherited = all.filter(
      (tool) => isOfAgent(tool, request.agent.tools) && !OF_THE_PRIMARY_LINE.includes(tool.name),
    );
    return [...inherited, ...delegating];
  }
}

/** Whether the primary thread is offered a tool: built-in tools must be listed, all others come with the session. */
export function isOfAgent({ name }: BuiltinTool, listed: readonly string[]): boolean {
  return readToolName(name).kind !== "builtin" || name === SKILL_TOOL || listed.includes(listedAs(name));
}

/** The name in a list of tools that includes this tool: TaskStop comes with Bash. */
function listedAs(name: string): string {
  return name === "TaskStop" ? "Bash" : readToolName(name).name;
}

type BuiltinInput = Readonly<Record<string, unknown>>;

const AGENT_SCHEMA = {
  type: "object",
  properties: {
    description: { type: "string", description: "The task in three to five words." },
    prompt: { type: "string", description: "The task, with all that the subagent needs to know." },
    subagent_type: { type: "string", description: `The name of the subagent. Default: ${GENERAL_SUBAGENT}.` },
  },
  required: ["description", "prompt"],
};

const MESSAGE_SCHEMA = {
  type: "object",
  properties: {
    to: { type: "string", description: "The agentId that the subagent reported." },
    message: { type: "string", description: "What to say to it." },
    summary: { type: "string", description: "The message in a few words." },
  },
  required: ["to", "message"],
};
