import { inspect } from "node:util";
import { CapstanError } from "../core/errors.ts";
import { describeIssue, type OutputOf, type StandardSchema } from "../core/agent/standard-schema.ts";
import type { Tool, ToolAnnotations, ToolContext, ToolOutcome } from "../core/ports/tool.ts";
import { inputSchemaOf } from "./input-schema.ts";
import { replyContent, cutText, blocksText, toJson, type ToolReply } from "./tool-reply.ts";

export interface ToolDefinition<Schema extends StandardSchema, Data> {
  /** Letters, digits, `_` and `-`; at most 64. */
  readonly name: string;
  /** Tells the model what the tool does and when to use it. */
  readonly description: string;
  /** A schema of any library that follows Standard Schema; the handler gets its output. */
  readonly input: Schema;
  /** The JSON Schema for the model. Required if the schema's library can't provide it, as with valibot. */
  readonly inputJsonSchema?: Readonly<Record<string, unknown>>;
  /** Default: all false. */
  readonly annotations?: Partial<ToolAnnotations>;
  /** Default: ten minutes. */
  readonly timeoutMs?: number;
  /**
   * Limit for the result's text, in bytes of UTF-8; images do not count (default: 256 KiB). The Claude engine shows at
   * most 500 000 characters in any case.
   */
  readonly maxResultBytes?: number;
  /** An exception is reported to the model as a failure. `context.signal` is aborted when the call must stop. */
  readonly handler: (input: OutputOf<Schema>, context: ToolContext) => ToolReply<Data> | Promise<ToolReply<Data>>;
  /** Converts structured data to text for the model (default: JSON). */
  readonly render?: (data: NoInfer<Data>) => string;
}

const DEFAULT_TIMEOUT_MS = 10 * 60_000;
const DEFAULT_RESULT_BYTES = 256 * 1024;
/** Node timers with a longer delay fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Creates a tool from a function of the host. Throws `invalid_input` or `invalid_schema` for an unusable definition.
 */
export function defineTool<Schema extends StandardSchema, Data>(definition: ToolDefinition<Schema, Data>): Tool {
  const { name, description, annotations = {} } = definition;
  const { timeoutMs = DEFAULT_TIMEOUT_MS, maxResultBytes = DEFAULT_RESULT_BYTES } = definition;
  if (!/^[\w-]{1,64}$/.test(name))
    throw new CapstanError(
      "invalid_input",
      `"${name}" is not a valid tool name: use 1 to 64 letters, digits, _ and -.`,
    );
  checkWhole(`timeoutMs of the tool ${name}`, timeoutMs);
  checkWhole(`maxResultBytes of the tool ${name}`, maxResultBytes);
  return {
    name,
    description,
    inputSchema: inputSchemaOf(definition),
    annotations: {
      readOnly: annotations.readOnly ?? false,
      destructive: annotations.destructive ?? false,
      safeInternal: annotations.safeInternal ?? false,
    },
    async run(input, context) {
      using stop = stopOf(context, timeoutMs);
      const stopped = stop.reached.then((why) => failure(`Tool ${name} was stopped: ${why} ${STAYS_DONE}`));
      if (stop.signal.aborted) return failure(`Tool ${name} was not run: ${await stop.reached}`);
      const ended = execute(definition, { input, context: { ...context, signal: stop.signal } }).catch(() =>
        failure(`Tool ${name} failed with an error that cannot be displayed.`),
      );
      return limitOutcome(await Promise.race([stopped, ended]), maxResultBytes);
    },
  };
}

const STAYS_DONE = "What it did until then is not undone.";

async function execute<Schema extends StandardSchema, Data>(
  { name, input: schema, handler, render = toJson }: ToolDefinition<Schema, Data>,
  call: { readonly input: unknown; readonly context: ToolContext },
): Promise<ToolOutcome> {
  let reply: ToolReply<Data>;
  try {
    const checked = await schema["~standard"].validate(call.input);
    if (checked.issues !== undefined) {
      const problems = checked.issues.map((issue) => `- ${describeIssue(issue, "input")}`);
      return failure(`Tool ${name} was not run: its input is not valid.\n${problems.join("\n")}`);
    }
    reply = await handler(checked.value, call.context);
  } catch (thrown) {
    return failure(`Tool ${name} failed: ${brief(thrown)}`, show(thrown));
  }
  try {
    return { isError: false, content: replyContent(reply, render) };
  } catch (thrown) {
    const story = `${show(thrown)}\n\nThe handler returned: ${show(reply)}`;
    return failure(`Tool ${name} ran, but its result cannot be passed on: ${brief(thrown)}`, story);
  }
}

interface Stop extends Disposable {
  /** Aborted by the timeout, the turn's deadline or the caller. */
  readonly signal: AbortSignal;
  /** Why the call was stopped; pending until then. */
  readonly reached: Promise<string>;
}

function stopOf(context: ToolContext, timeoutMs: number): Stop {
  const controller = new AbortController();
  const { promise: reached, resolve } = Promise.withResolvers<string>();
  const stop = (why: string, reason: unknown = new CapstanError("tool_failed", why)): void => {
    resolve(why);
    controller.abort(reason);
  };
  const onAbort = (): void => stop("the call was aborted.", context.signal.reason);
  const untilDeadline = (context.deadline ?? Infinity) - Date.now();
  const atDeadline = untilDeadline <= timeoutMs;
  const why = atDeadline ? "the turn's deadline was reached." : `it took longer than ${timeoutMs} ms.`;
  if (context.signal.aborted) onAbort();
  else if (untilDeadline <= 0) stop(why);
  const timer = setTimeout(() => stop(why), Math.max(0, Math.min(untilDeadline, timeoutMs)));
  context.signal.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    reached,
    [Symbol.dispose]() {
      clearTimeout(timer);
      context.signal.removeEventListener("abort", onAbort);
    },
  };
}

function limitOutcome(outcome: ToolOutcome, maxBytes: number): ToolOutcome {
  const cut = cutText(outcome.content, maxBytes);
  return cut === undefined ? outcome : { detail: blocksText(outcome.content), ...outcome, content: cut };
}

function failure(message: string, detail?: string): ToolOutcome {
  const content = [{ type: "text" as const, text: message.toWellFormed() }];
  return { isError: true, content, ...(detail !== undefined && { detail }) };
}

function brief(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" ? thrown : show(thrown);
}

/** Does not call the value's own formatting code, which may throw. */
function show(value: unknown): string {
  return inspect(value, { depth: 6, customInspect: false });
}

function checkWhole(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0 && value <= LONGEST_TIMER_MS) return;
  throw new CapstanError("invalid_input", `${what} is ${value}: use a whole number from 1 to ${LONGEST_TIMER_MS}.`);
}
