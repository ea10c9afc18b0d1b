import { existsSync } from "node:fs";
import { parseDuration } from "../../core/text/duration.ts";
import type { Flags } from "../../config/settings/layers.ts";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { InputValues } from "../../core/agent/agent-inputs.ts";
import type { SessionBudget } from "../../core/money/budget-schema.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import type { SandboxSettings, WorkspaceKind } from "../../core/environment/environment.ts";
import { usage } from "../terminal/failure.ts";

export interface RunFlags {
  readonly agent?: string;
  readonly cwd: string;
  readonly engine?: EngineName;
  readonly model?: string;
  readonly mode?: Mode;
  readonly allow?: readonly string[];
  /** Trust what is there, for this process. */
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

/** Throws what is wrong with the flags as they are given together. */
export function requireFitting(flags: RunFlags): void {
  if ([flags.resume, flags.fork, flags.continue].filter((flag) => flag !== undefined).length > 1)
    throw usage("--resume, --fork and --continue exclude each other. Give one of them.");
  if (flags.yes === true && flags.deny === true) throw usage("--yes and --deny exclude each other. Give one of them.");
  if (flags.detach === true && (flags.yes === true || flags.deny === true))
    throw usage("With --detach nobody is here to answer, so --yes and --deny cannot be given with it.");
  if (resumes(flags)) refuseForGoingOn(flags);
}

/** Whether a session is wanted that was there before. */
export function resumes({ resume, fork, continue: last }: RunFlags): boolean {
  return resume !== undefined || fork !== undefined || last === true;
}

/** Whether an agent is named by its id on a server rather than by a file here. */
export function isAgentId(agent: string): boolean {
  return /^agent_\w+$/.test(agent) && !existsSync(agent);
}

/** The limits that are given. A session that goes on keeps its own but for these. */
export function givenLimits({ maxUsd, maxSteps, timeout }: RunFlags): SessionBudget {
  return {
    ...(maxUsd !== undefined && { usd: maxUsd }),
    ...(maxSteps !== undefined && { steps: maxSteps }),
    ...(timeout !== undefined && { deadline_ms: parseDuration(timeout) }),
  };
}

/** The flags that settings know as well, for one session. */
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

/** The values for the agent's inputs, by their names. */
export function givenInputs({ input = [] }: RunFlags): InputValues {
  const values = input.map((text): [string, string] => {
    const at = text.indexOf("=");
    if (at < 1) throw usage(`--input ${JSON.stringify(text)} must be name=value, such as --input language=German`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  const twice = values.find(([name], index) => values.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) throw usage(`--input ${twice[0]} is given twice. Give it once.`);
  return Object.fromEntries(values);
}

/** What a session is started with and keeps: given to one that goes on, it would be ignored. */
const AT_START = {
  agent: "--agent",
  input: "--input",
  schema: "--schema",
  allow: "--allow",
  workspace: "--workspace",
  sandbox: "--sandbox",
} as const;

/** A fork takes over its parent's limits as they are. */
const AT_FORK = { ...AT_START, maxUsd: "--max-usd", maxSteps: "--max-steps", timeout: "--timeout" } as const;

function refuseForGoingOn(flags: RunFlags): void {
  const kept: Partial<typeof AT_FORK> = flags.fork === undefined ? AT_START : AT_FORK;
  const given = Object.entries(kept).flatMap(([key, flag]) =>
    flags[key as keyof typeof AT_FORK] === undefined ? [] : [flag],
  );
  if (given.length > 0)
    throw usage(
      `A session that goes on keeps what it was started with, so ${given.join(", ")} cannot be changed. Leave it out, or start a new session.`,
    );
}
