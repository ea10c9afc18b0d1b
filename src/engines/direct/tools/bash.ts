import { messageOf } from "../../../core/errors.ts";
import { readCommands } from "../../../core/shell/read-commands.ts";
import type { ProcessUse } from "../../../process/limits.ts";
import { traitsOf } from "../../builtin-tools.ts";
import { type BackgroundCommand, BackgroundCommands } from "../shell/background.ts";
import { CapturedOutput } from "../shell/captured-output.ts";
import { shortDuration, outputForModel } from "../shell/result-text.ts";
import { type CommandEnd, MAX_PRINTED, Shell } from "../shell/shell.ts";
import type { ShellContext } from "../shell/surroundings.ts";
import { type BuiltinCall, type BuiltinOutcome, type BuiltinTool, textOutcome } from "./builtin-tool.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

/** The tools that run a session's commands. No process starts before the first call. */
export interface BashTools {
  readonly tools: readonly BuiltinTool[];
  /** The directory with outputs that the model is asked to read: `readable` of the session's calls. */
  readonly outputs: string;
  /** The root processes of all commands. */
  pids(): number[];
  /** Their total use, for a `Watchdog`. */
  use(): ProcessUse;
  background(): readonly BackgroundCommand[];
  /** Kills all commands and everything they left behind, and removes their files. */
  close(): Promise<void>;
  kill(): void;
}

/** Throws `invalid_input` for variables that no command can receive. */
export function bashTools(place: ShellContext): BashTools {
  const shell = new Shell(place);
  const background = new BackgroundCommands(shell);
  return {
    tools: [bashTool(place, shell, background), stopTool(background)],
    outputs: shell.outputs,
    pids: () => shell.pids(),
    use: () => shell.use(),
    background: () => background.list(),
    close: () => shell.close(),
    kill: () => shell.kill(),
  };
}

function bashTool({ confinement }: ShellContext, shell: Shell, background: BackgroundCommands): BuiltinTool {
  return {
    name: "Bash",
    description: [
      "Runs a bash command and returns what it prints.",
      "The working directory (within the workspace) is kept for later commands; variables, functions and aliases are not: set them in the command that needs them.",
      "There is no terminal, and stdin is empty: do not run commands that wait for input.",
      ...(confinement === undefined
        ? []
        : ["Commands run in a sandbox: they can write only in the workspace and in $TMPDIR, and have no network."]),
      "For reading, writing and searching files use the tools made for that, if you have them.",
    ].join(" "),
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", description: "The command to run." },
        timeout: {
          type: "number",
          description: `In milliseconds: ${DEFAULT_TIMEOUT_MS} unless given, at most ${MAX_TIMEOUT_MS}.`,
        },
        description: { type: "string", description: "What the command does, in five to ten words." },
        run_in_background: {
          type: "boolean",
          description: "Returns at once. The output goes to a file, which the result names. TaskStop ends the command.",
        },
        dangerouslyDisableSandbox: { type: "boolean", description: "Has no effect." },
      },
      required: ["command"],
      additionalProperties: false,
    },
    traits: traitsOf("Bash"),
    directoryOf: (threadId) => shell.directoryOf(threadId),
    run: (input, call) => runBash(input, call, { shell, background }).catch(failure),
  };
}

async function runBash(
  input: Readonly<Record<string, unknown>>,
  { callId, threadId, directory, signal }: BuiltinCall,
  { shell, background }: { readonly shell: Shell; readonly background: BackgroundCommands },
): Promise<BuiltinOutcome> {
  const { command, timeout } = input;
  const problem = problemWith(command);
  if (typeof command !== "string" || problem !== undefined) return textOutcome(problem ?? "", true);
  if (input["run_in_background"] === true) {
    const { id, file } = await background.start({ command, threadId, directory });
    return textOutcome(`Command running in background with ID: ${id}. Output is being written to: ${file}.`);
  }
  const timeoutMs = typeof timeout === "number" && timeout > 0 ? Math.min(timeout, MAX_TIMEOUT_MS) : DEFAULT_TIMEOUT_MS;
  const outputs = { stdout: new CapturedOutput(shell.outputs), stderr: new CapturedOutput(shell.outputs) };
  try {
    const end = await shell.run({
      command,
      threadId,
      directory,
      keepsState: true,
      timeoutMs,
      signal,
      onOutput: (stream, chunk) => outputs[stream].write(chunk),
    });
    if (end.kind === "failed") return textOutcome(end.reason, true);
    const { text, whole } = await outputForModel(outputs, () => shell.outputFile(callId));
    const { isError, before, after } = frameOutput(end, { command, timeoutMs });
    const all = [...before, ...(text === "" ? [] : [text]), ...after].join("\n");
    return {
      ...textOutcome(all === "" ? "(Bash completed with no output)" : all, isError),
      ...(whole !== undefined && { outputFile: whole }),
    };
  } finally {
    await Promise.all([outputs.stdout.discard(), outputs.stderr.discard()]);
  }
}

function problemWith(command: unknown): string | undefined {
  if (typeof command !== "string" || command.trim() === "") return "`command` is empty. Give a command to run.";
  if (command.includes("\0")) return "The command contains a NUL character, which a shell cannot read. Remove it.";
  if (!command.isWellFormed()) return "The command contains half of a Unicode surrogate pair. Remove it.";
  return undefined;
}

/** The texts before and after the output. */
function frameOutput(
  end: Exclude<CommandEnd, { kind: "failed" }>,
  { command, timeoutMs }: { readonly command: string; readonly timeoutMs: number },
): { isError: boolean; before: readonly string[]; after: readonly string[] } {
  switch (end.kind) {
    case "exited": {
      const isError = end.status !== 0 && !(end.status === 1 && saysNoWithOne(command));
      return { isError, before: isError ? [`Exit code ${end.status}`] : [], after: end.notes };
    }
    case "timeout":
      return {
        isError: true,
        before: ["Exit code 143", `Command timed out after ${shortDuration(timeoutMs)}`],
        after: [],
      };
    case "flood":
      return {
        isError: true,
        before: ["Exit code 137", `Command ended because it printed more than ${MAX_PRINTED / 1_048_576} MB`],
        after: [],
      };
    case "aborted":
      return { isError: true, before: [], after: ["<error>Command was aborted before completion</error>"] };
    case "killed":
      return {
        isError: true,
        before: ["Exit code 137", "The command was killed, with all that it started"],
        after: [],
      };
  }
}

/** Programs that use exit code 1 for an answer, not a failure. */
const ANSWERS = ["grep", "rg", "egrep", "fgrep", "find", "diff", "test", "["];

function saysNoWithOne(command: string): boolean {
  const last = readCommands(command).commands.findLast(({ via }) => via.length === 0)?.words[0];
  return last?.dynamic === false && ANSWERS.includes(last.text);
}

function stopTool(background: BackgroundCommands): BuiltinTool {
  return {
    name: "TaskStop",
    description: "Ends a command that Bash runs in the background, with everything it started.",
    inputSchema: {
      type: "object",
      properties: { task_id: { type: "string", description: "The ID that Bash returned, such as bash_1." } },
      required: ["task_id"],
      additionalProperties: false,
    },
    traits: traitsOf("TaskStop"),
    run: async ({ task_id: id }, { threadId }) => {
      const known = background.idsOf(threadId);
      const wasRunning = typeof id === "string" ? await background.stop(id, threadId) : undefined;
      if (wasRunning === undefined)
        return textOutcome(
          `Unknown background command ${String(id)}. ${known.length === 0 ? "None was started." : `Known: ${known.join(", ")}.`}`,
          true,
        );
      return textOutcome(wasRunning ? `Successfully stopped task: ${String(id)}` : `${String(id)} had already ended.`);
    },
  };
}

function failure(thrown: unknown): BuiltinOutcome {
  return textOutcome(messageOf(thrown), true);
}
