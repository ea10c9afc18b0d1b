import { existsSync } from "node:fs";
import { parseDuration } from "../../core/text/duration.ts";
import type { Flags } from "../../config/settings/layers.ts";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { InputValues } from "../../core/agent/agent-inputs.ts";
import type { SessionBudget } from "../../core/money/budget-schema.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import type { SandboxSettings, WorkspaceKind } from "../../core/environment/environment.ts";
import { usageError } from "../terminal/failure.ts";

export interface RunFlags {
  readonly agent?: string;
  readonly cwd: string;
  readonly engine?: EngineName;
  readonly model?: string;
  readonly mode?: Mode;
  readonly allow?: readonly string[];
  /** Trust the files as they are, for this process only. */
  readonly trust?: boolean;
  readonly yes?: boolean;
  readonly deny?: boolean;
  readonly schema?: string;
  readonly file?: readonly string[];
  /** Each `name=value`. */
  readonly input?: readonly string[];
  readonly json?: boolean;
  readonly resume?: string;
  readonly fork?: string;
  readonly continue?: boolean;
  readonly maxSteps?: number;
  readonly maxUsd?: number;
  readonly timeout?: string;
  readonly workspace?: WorkspaceKind;
  readonly sandbox?: SandboxSettings["mode"];
  readonly rehearsal?: boolean;
  readonly trace?: string;
  readonly detach?: boolean;
}

/** Throws if flags contradict each other. */
export function requireCompatible(flags: RunFlags): void {
  if ([flags.resume, flags.fork, flags.continue].filter((flag) => flag !== undefined).length > 1)
    throw usageError("--resume, --fork and --continue cannot be combined. Use one of them.");
  if (flags.yes === true && flags.deny === true)
    throw usageError("--yes and --deny cannot be combined. Use one of them.");
  if (flags.detach === true && (flags.yes === true || flags.deny === true))
    throw usageError(
      "--detach cannot be combined with --yes or --deny: the server handles the approvals. Omit one of them.",
    );
  if (resumes(flags)) refuseForResume(flags);
}

/** Whether the flags name an existing session. */
export function resumes({ resume, fork, continue: last }: RunFlags): boolean {
  return resume !== undefined || fork !== undefined || last === true;
}

/** Whether an agent is named by its id on a server rather than by a file here. */
export function isAgentId(agent: string): boolean {
  return /^agent_\w+$/.test(agent) && !existsSync(agent);
}

/** The limits in the flags. A resumed session keeps its other limits. */
export function givenLimits({ maxUsd, maxSteps, timeout }: RunFlags): SessionBudget {
  return {
    ...(maxUsd !== undefined && { usd: maxUsd }),
    ...(maxSteps !== undefined && { steps: maxSteps }),
    ...(timeout !== undefined && { deadline_ms: parseDuration(timeout) }),
  };
}

/** The flags that override settings for one session. */
export function settingFlags(flags: RunFlags): Flags {
  const { engine, model, mode, allow, maxUsd, maxSteps, workspace, sandbox } = flags;
  return {
    engine,
    model,
    mode,
    allow,
    max_usd: maxUsd,
    max_steps: maxSteps,
    timeout_ms: givenLimits(flags).deadline_ms,
    workspace,
    sandbox,
  };
}

/** The values for the agent's inputs, by name. */
export function givenInputs({ input = [] }: RunFlags): InputValues {
  const values = input.map((text): [string, string] => {
    const at = text.indexOf("=");
    if (at < 1)
      throw usageError(
        `--input ${JSON.stringify(text)} must have the form name=value, such as --input language=German`,
      );
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const twice = values.find(([name], index) => values.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) throw usageError(`--input ${twice[0]} appears twice. Give it once.`);
  return Object.fromEntries(values);
}

/** Fixed when a session starts, so they would have no effect on a resumed one. */
const AT_START = {
  agent: "--agent",
  input: "--input",
  schema: "--schema",
  allow: "--allow",
  workspace: "--workspace",
  sandbox: "--sandbox",
} as const;

/** A fork also keeps its parent's limits. */
const AT_FORK = { ...AT_START, maxUsd: "--max-usd", maxSteps: "--max-steps", timeout: "--timeout" } as const;

function refuseForResume(flags: RunFlags): void {
  const fixed: Partial<typeof AT_FORK> = flags.fork === undefined ? AT_START : AT_FORK;
  const given = Object.entries(fixed).flatMap(([key, flag]) =>
    flags[key as keyof typeof AT_FORK] === undefined ? [] : [flag],
  );
  if (given.length > 0)
    throw usageError(`${given.join(", ")} cannot be changed in an existing session. Omit it, or start a new session.`);
}
