import { join } from "node:path";
import type { AgentDefinition, Mode } from "../../core/agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { decide, STEPS, type PermissionVerdict } from "../../core/permission/decide.ts";
import { runsConfined } from "../../core/permission/limits.ts";
import { agentRules } from "../../core/permission/rule-set.ts";
import type { CallSubject, ToolTraits } from "../../core/rules/subject.ts";
import { suggestRules } from "../../core/permission/suggest.ts";
import { type CalledTool, subjectOf } from "../subject/call-subject.ts";
import { guardCall, guardedPaths } from "../subject/guard-call.ts";
import { sandboxOf } from "../protected/sandbox.ts";

/** Facts about the host that a definition does not contain. */
export interface PolicyHost {
  /** Whether a tool is built into the engine, and what it can do. */
  readonly describeTool: (tool: string) => { readonly isBuiltIn: boolean; readonly traits: ToolTraits };
  /** Throws if a rule names an unknown tool; `tools` are known in addition to the engine's. */
  readonly requireKnownTools: (session: {
    readonly agent: Pick<AgentDefinition, "permissions" | "custom_tools">;
    readonly tools: readonly { readonly name: string }[];
  }) => void;
  /** Whether this machine can sandbox commands. */
  readonly hasSandbox: () => boolean;
  /** The home directory of the user whose files agents work on, and Capstan's home. */
  readonly home: string;
  readonly capstanHome: string;
  readonly secretFiles: readonly string[];
}

export interface PolicyQuestion {
  readonly call: CalledTool;
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
  readonly cwd: string;
}

export interface Explanation extends PermissionVerdict {
  readonly mode: Mode;
  /** In order; the last one made the decision. */
  readonly steps: readonly { readonly step: string; readonly found: string }[];
  /** The rules that "remember this answer" would save. */
  readonly remembers: readonly string[];
  readonly subject: CallSubject;
}

/** Explains what Capstan would decide about a call, and why. Ignores grants, which belong to sessions. */
export function explainCall(host: PolicyHost, { call, agent, environment, cwd }: PolicyQuestion): Explanation {
  // A session with such rules would not start.
  host.requireKnownTools({ agent, tools: [] });
  const { tools, permissions, subagents, skills = {} } = agent;
  const { isBuiltIn, traits: known } = host.describeTool(call.tool);
  const isCustom = agent.custom_tools?.some(({ name }) => name === call.tool) === true;
  const traits: ToolTraits = isCustom ? { ...known, custom: true } : known;
  const comesWith: Readonly<Record<string, object>> = { Agent: subagents, Skill: skills };
  const hasTool = tools.includes(call.tool) || Object.keys(comesWith[call.tool] ?? {}).length > 0;
  const made = { ...call, engineTool: isBuiltIn };
  // At the same depth as a session's HOME.
  const shellHome = join(host.capstanHome, "sessions", "any", "home");
  const guarded = guardedPaths({ cwd, agent, capstanHome: host.capstanHome });
  const subject = guardCall(subjectOf(made, { cwd, home: host.home, shellHome }), made, guarded);
  const limits = sandboxOf({
    record: { cwd, source: cwd, environment },
    home: host.home,
    capstanHome: host.capstanHome,
    stateDir: host.capstanHome,
    variables: {},
    secretFiles: host.secretFiles,
  });
  const passed: string[] = [];
  const verdict = decide(
    {
      // Tools that are not built in come with a session and are unknown here.
      enabled: hasTool || !isBuiltIn,
      mode: permissions.mode,
      rules: agentRules(agent),
      traits,
      subject,
      limits,
      sandboxed: limits.autoAllow && runsConfined(subject, call.input, limits) && host.hasSandbox(),
      grants: [],
    },
    (why) => passed.push(why),
  );
  return {
    ...verdict,
    mode: permissions.mode,
    steps: STEPS.slice(0, passed.length + 1).map((step, index) => ({ step, found: passed[index] ?? "decided" })),
    remembers: verdict.rememberable ? suggestRules(subject) : [],
    subject,
  };
}
