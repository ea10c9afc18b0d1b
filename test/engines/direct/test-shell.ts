import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { environmentDefinition, type EnvironmentInput } from "../../../src/core/environment/environment.ts";
import { sandboxPlan } from "../../../src/core/environment/sandbox.ts";
import type { ShellContext } from "../../../src/engines/direct/shell/surroundings.ts";
import { type BashTools, bashTools } from "../../../src/engines/direct/tools/bash.ts";
import type { BuiltinCall, BuiltinOutcome, BuiltinTool } from "../../../src/engines/direct/tools/builtin-tool.ts";
import { stubsOf } from "../../../src/engines/direct/tools/session-tools.ts";
import { findContainment } from "../../../src/process/containment.ts";
import { sandboxFinder } from "../../../src/sandbox/support.ts";
import { temporaryDirectory } from "../../support/host.ts";

const COMMAND_PATH = "/usr/local/bin:/usr/bin:/bin";
/** The machine may be busy; how long something takes is not what is tested. */
export const PATIENT = { timeout: 60_000 };

export interface TestShell {
  readonly bash: BashTools;
  /** Paths in the directory of the test: `ws` is the workspace, `capstan/state` the session's own directory. */
  readonly at: (...names: string[]) => string;
  readonly run: (command: string, more?: RunOptions) => Promise<Ran>;
  readonly tool: (name: string) => BuiltinTool;
  /** The tools of the session's next process. */
  readonly again: () => Promise<TestShell>;
}

interface RunOptions {
  readonly input?: Readonly<Record<string, unknown>>;
  readonly call?: Partial<BuiltinCall>;
}

export interface Ran extends BuiltinOutcome {
  readonly text: string;
}

interface Given extends Partial<ShellContext> {
  /** With a sandbox, as an environment has it. */
  readonly sandbox?: EnvironmentInput["sandbox"];
}

/** A session's shell, with real bash and real containment. */
export async function testShell({ sandbox, ...given }: Given = {}): Promise<TestShell> {
  const directory = temporaryDirectory();
  const root = realpathSync(directory.path);
  const at = (...names: string[]): string => join(root, ...names);
  for (const name of ["ws", "tmp", "home", "capstan/state"]) mkdirSync(at(name), { recursive: true });
  const opened: BashTools[] = [];
  onTestFinished(async () => {
    for (const one of opened) await one.close();
    directory[Symbol.dispose]();
  });
  const containment = await findContainment();
  return open();

  async function open(): Promise<TestShell> {
    const place = { cwd: at("ws"), stateDir: at("capstan/state") };
    const confinement = sandbox && confinementFor(at, sandbox, given.variables);
    const bash = bashTools({
      ...place,
      sessionId: "session_1",
      tempDir: at("tmp"),
      path: COMMAND_PATH,
      variables: {},
      containment,
      confinement,
      stubs: stubsOf(place, confinement),
      ...given,
    });
    opened.push(bash);
    let calls = 0;
    const tool = (name: string): BuiltinTool => {
      const found = bash.tools.find((one) => one.name === name);
      if (found === undefined) throw new Error(`There is no tool ${name}`);
      return found;
    };
    const run = async (command: string, { input, call }: RunOptions = {}): Promise<Ran> => {
      const outcome = await tool("Bash").run(
        { command, ...input },
        {
          callId: `call_${(calls += 1)}`,
          signal: new AbortController().signal,
          threadId: call?.threadId,
          directory: tool("Bash").directoryOf?.(call?.threadId),
          ...call,
        },
      );
      const text = outcome.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      return { ...outcome, text };
    };
    return { bash, at, run, tool, again: open };
  }
}

function confinementFor(
  at: TestShell["at"],
  sandbox: EnvironmentInput["sandbox"],
  variables: Readonly<Record<string, string>> = {},
): ShellContext["confinement"] {
  const { confine } = sandboxFinder(process.env["PATH"] ?? "")();
  if (confine === undefined) throw new Error("There is no sandbox on this machine.");
  const settings = environmentDefinition.parse({ sandbox: { mode: "required", ...sandbox } }).sandbox;
  const plan = sandboxPlan(settings, {
    cwd: at("ws"),
    source: at("ws"),
    home: at("home"),
    capstanHome: at("capstan"),
    stateDir: at("capstan/state"),
    temporary: "/tmp",
    readOnlyMounts: [],
    secretFiles: [],
    configuration: [at("ws/.capstan")],
    variables,
    real: (path) => path,
  });
  return { plan, confine };
}
