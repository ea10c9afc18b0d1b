import type { Call } from "../transcript/transcript.ts";

/** Describes a tool call and its outcome. */

export type CallState = "asked" | "waiting" | "running" | "done" | "failed" | "denied" | "aborted";

export function callStateOf({ result, decision, asked }: Call): CallState {
  if (result !== undefined) {
    const outcome = result.outcome ?? (result.is_error === true ? "failed" : "completed");
    if (outcome === "completed") return result.is_error === true ? "failed" : "done";
    return outcome;
  }
  if (decision?.decision === "deny") return "denied";
  if (decision?.decision === "allow") return "running";
  return asked === undefined ? "waiting" : "asked";
}

/** In milliseconds from the decision to the result, or to `now` while it runs. */
export function runningTime({ use, decision, result }: Call, now: number): number | undefined {
  const from = Date.parse(decision?.processed_at ?? use.processed_at);
  const end = result?.processed_at;
  if (end != null) return Math.max(0, Date.parse(end) - from);
  return decision?.decision === "allow" ? Math.max(0, now - from) : undefined;
}

/** The input, including changes made by the decision. */
export function inputOf({ use, decision }: Call): Readonly<Record<string, unknown>> {
  return decision?.input ?? use.input;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

export function resultText({ result }: Call): string {
  return (result?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** A subagent's report, without the text that Claude Code wraps around it for the model, if any. */
export function reportOf(text: string): string {
  const [, report] = /The report follows:\n([\s\S]*?)(?:\nagentId: |\n<usage>|$)/.exec(text) ?? [];
  return report === undefined ? text : report.replaceAll(/^ {1,4}/gm, "").trim();
}

/** Claude Code reports a failed command in the first line. */
export function exitCode(text: string): { readonly code?: number; readonly output: string } {
  const [, code, rest = ""] = /^(?:Error: )?Exit code (\d+)\n?([\s\S]*)$/.exec(text) ?? [];
  return code === undefined ? { output: text } : { code: Number(code), output: rest };
}

export function titleOf(call: Call): { readonly verb: string; readonly about: string } {
  const input = inputOf(call);
  const { use } = call;
  const file = textOf(input["file_path"] ?? input["notebook_path"] ?? input["path"]);
  switch (use.name) {
    case "Bash":
      return { verb: "Run", about: textOf(input["description"] ?? input["command"]) };
    case "Read":
      return { verb: "Read", about: file };
    case "Write":
      return { verb: "Write", about: file };
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return { verb: "Edit", about: file };
    case "Grep":
      return { verb: "Search", about: `${textOf(input["pattern"])}${file === "" ? "" : ` in ${file}`}` };
    case "Glob":
      return { verb: "Find files", about: textOf(input["pattern"]) };
    case "WebFetch":
      return { verb: "Fetch", about: textOf(input["url"]) };
    case "WebSearch":
      return { verb: "Search the web", about: textOf(input["query"]) };
    case "Task":
    case "Agent":
      return { verb: "Subagent", about: textOf(input["description"] ?? input["subagent_type"]) };
    case "AskUserQuestion":
      return { verb: "Question", about: questionsOf(input).join(" · ") };
    case "ExitPlanMode":
      return { verb: "Plan", about: "" };
    case "TodoWrite":
      return { verb: "To-do list", about: "" };
    case "Skill":
      return { verb: "Skill", about: textOf(input["skill"] ?? input["command"]) };
    default:
      if (use.type === "agent.mcp_tool_use")
        return { verb: use.mcp_server_name, about: use.name.replace(/^mcp__.+?__/, "") };
      return { verb: use.name, about: firstText(input) };
  }
}

function questionsOf(input: Readonly<Record<string, unknown>>): string[] {
  const questions = Array.isArray(input["questions"]) ? (input["questions"] as unknown[]) : [];
  return questions.map((question) => textOf((question as { readonly question?: unknown }).question));
}

function firstText(input: Readonly<Record<string, unknown>>): string {
  return Object.values(input).find((value): value is string => typeof value === "string") ?? "";
}
