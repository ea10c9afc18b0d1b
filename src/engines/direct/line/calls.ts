import { setTimeout as sleep } from "node:timers/promises";
import type { EngineHost } from "../../../core/ports/engine.ts";
import { messageOf } from "../../../core/errors.ts";
import type { ToolReturn } from "../../../core/session/history.ts";
import { readToolName } from "../../tool-names.ts";
import { type BuiltinOutcome, type BuiltinTool, textOutcome } from "../tools/builtin-tool.ts";
import type { InputChecks } from "./input-checks.ts";

/** A call as the model made it. */
export interface MadeCall {
  readonly callId: string;
  readonly name: string;
  /** Undefined if the model's text is not a JSON object. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
  readonly written: string;
}

export interface CallContext {
  readonly host: Pick<EngineHost, "prepare" | "emit">;
  readonly checks: InputChecks;
  readonly threadId: string | undefined;
  /** The thread's tools and every other tool of the session: the gate denies those, not the engine. */
  readonly tools: readonly BuiltinTool[];
  readonly readable: readonly string[];
  /** The session's commands run in a sandbox. */
  readonly isConfined: boolean;
}

/** Milliseconds. How long to wait for a tool that was asked to stop. */
const STOP_GRACE_MS = 2_000;
/** How much unreadable input is shown to the model. */
const SHOWN_CHARS = 500;
/** They change nothing on this machine. */
const INDEPENDENT = ["WebFetch", "WebSearch"];

/**
 * Runs the calls of one answer, which is already in the log, and resolves with their results in order. Adjacent calls
 * that change nothing run in parallel; any other call runs alone, and is decided right before it runs.
 */
export async function runCalls(
  calls: readonly MadeCall[],
  place: CallContext,
  signal: AbortSignal,
): Promise<readonly ToolReturn[]> {
  const results: ToolReturn[] = [];
  for (const batch of batchesOf(calls, place))
    results.push(...(await Promise.all(batch.map((call) => runCall(call, place, signal)))));
  return results;
}

function batchesOf(calls: readonly MadeCall[], { tools }: CallContext): MadeCall[][] {
  const batches: MadeCall[][] = [];
  let isOpen = false;
  for (const call of calls) {
    const tool = toolNamed(call.name, tools);
    const isFree =
      tool === undefined ||
      tool.traits.readOnly ||
      tool.traits.custom === true ||
      tool.isParallel === true ||
      INDEPENDENT.includes(readToolName(tool.name).name);
    if (isFree && isOpen) batches.at(-1)?.push(call);
    else batches.push([call]);
    isOpen = isFree;
  }
  return batches;
}

async function runCall(call: MadeCall, place: CallContext, signal: AbortSignal): Promise<ToolReturn> {
  const { content, isError, outputFile } = await outcomeOf(call, place, signal);
  const { callId } = call;
  await place.host.emit({
    kind: "tool_result",
    callId,
    content,
    isError,
    ...(outputFile !== undefined && { outputFile }),
  });
  return { callId, content, isError };
}

async function outcomeOf(call: MadeCall, place: CallContext, signal: AbortSignal): Promise<BuiltinOutcome> {
  const { callId, name, input, written } = call;
  const { host, checks, tools, readable, isConfined, threadId } = place;
  const tool = toolNamed(name, tools);
  if (tool === undefined)
    return textOutcome(`Unknown tool ${name}. Use one of: ${tools.map((one) => one.name).join(", ")}.`, true);
  if (input === undefined)
    return textOutcome(
      `The input of this call is not a JSON object, so it was not run: ${written.slice(0, SHOWN_CHARS)}\nMake the call again with valid JSON.`,
      true,
    );
  try {
    const problems = await checks.problems(tool, input);
    if (problems !== undefined) return textOutcome(unfit(tool, problems), true);
    if (signal.aborted) return NOT_RUN;
    const { traits } = tool;
    const directory = tool.directoryOf?.(threadId);
    const asked = { callId, tool: readToolName(tool.name).name, input, traits, readable, confined: isConfined };
    const decision = await host.prepare({ ...asked, ...(directory !== undefined && { directory }) }, signal);
    if (decision.behavior === "deny") return textOutcome(decision.message, true);
    if (signal.aborted) return NOT_RUN;
    const permitted = decision.input ?? input;
    const changed = decision.input && (await checks.problems(tool, permitted));
    if (changed !== undefined) return textOutcome(unfit(tool, changed), true);
    const { places, directory: start } = decision;
    return await untilStopped(tool.run(permitted, { callId, signal, threadId, places, directory: start }), signal);
  } catch (thrown) {
    return textOutcome(`The call failed: ${messageOf(thrown)}`, true);
  }
}

/** Don't wait for a tool that ignores its signal; drop its late output. */
async function untilStopped(running: Promise<BuiltinOutcome>, signal: AbortSignal): Promise<BuiltinOutcome> {
  const over = new AbortController();
  const stopped = new Promise<BuiltinOutcome>((resolve) => {
    const onAbort = (): void => {
      const late = sleep(STOP_GRACE_MS, STOPPED, { signal: over.signal, ref: false });
      late.then(resolve, () => {});
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([running, stopped]);
  } finally {
    over.abort(OVER);
  }
}

/** Used as the abort reason, because creating the default one takes longer than most tools. */
const OVER = "over";

/** Requires the exact name: the gate must decide about the tool that runs. */
function toolNamed(name: string, tools: readonly BuiltinTool[]): BuiltinTool | undefined {
  return tools.find((tool) => tool.name === name);
}

function unfit({ name }: BuiltinTool, problems: string): string {
  return `The input of this call does not fit ${name}, so it was not run. ${problems}`;
}

const NOT_RUN = textOutcome("[Not run: the turn was interrupted before.]", true);
const STOPPED = textOutcome("[Interrupted: the call was stopped, and its outcome is unknown.]", true);
