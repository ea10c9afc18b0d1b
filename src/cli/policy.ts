import { homedir } from "node:os";
import { resolve } from "node:path";
import { hasSandbox } from "../app/has-sandbox.ts";
import { secretFiles } from "../app/redactor.ts";
import { describeTool, requireKnownTools } from "../app/tool-traits.ts";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import type { Mode } from "../core/agent-definition.ts";
import { decide, STEPS, type Verdict } from "../core/permission/decide.ts";
import { runsConfined } from "../core/permission/limits.ts";
import { compileRules } from "../core/permission/rule-set.ts";
import type { CallSubject, Place, Redirection } from "../core/permission/subject.ts";
import { suggestRules } from "../core/permission/suggest.ts";
import { subjectOf } from "../runtime/call-subject.ts";
import { sandboxOf } from "../runtime/sandbox.ts";
import { readCall } from "./policy-call.ts";
import { colour, printable } from "./text.ts";

export interface CheckFlags {
  readonly agent?: string;
  readonly mode?: Mode;
  readonly cwd: string;
  readonly json?: boolean;
}

/** Explains what would be decided about a call. Grants are not looked at: they belong to sessions. */
export async function check(text: string, flags: CheckFlags): Promise<void> {
  const call = readCall(text);
  const cwd = resolve(flags.cwd);
  const configuration = await loadConfiguration({
    cwd,
    environment: process.env,
    flags: { mode: flags.mode },
    agentFile: flags.agent === undefined ? undefined : resolve(flags.agent),
  });
  // No session would start with such rules, so nothing would be decided by them.
  requireKnownTools({ agent: configuration.agent, tools: [] });
  const { tools, permissions, subagents } = configuration.agent;
  const { isBuiltIn, traits } = describeTool(call.tool);
  const hasTool = tools.includes(call.tool) || (call.tool === "Agent" && Object.keys(subagents).length > 0);
  const subject = subjectOf({ ...call, engineTool: isBuiltIn }, { cwd, home: homedir() });
  const { sessionEnvironment: environment, home: capstanHome } = configuration;
  const record = { cwd, source: cwd, environment };
  const limits = sandboxOf({
    record,
    home: homedir(),
    capstanHome,
    stateDir: capstanHome,
    variables: {},
    secretFiles: secretFiles(capstanHome, configuration.environment),
  });
  const passed: string[] = [];
  const verdict = decide(
    {
      // Tools that are not the engine's come with a session, and nobody knows them here.
      enabled: hasTool || !isBuiltIn,
      mode: permissions.mode,
      rules: compileRules(permissions),
      traits,
      subject,
      limits,
      sandboxed: limits.autoAllow && runsConfined(subject, call.input, limits) && hasSandbox(configuration.environment),
      grants: [],
    },
    (why) => passed.push(why),
  );
  const explanation: Explanation = {
    call: text,
    ...verdict,
    source: sourceOf(verdict, configuration),
    mode: permissions.mode,
    steps: STEPS.slice(0, passed.length + 1).map((step, index) => ({ step, found: passed[index] ?? "decided" })),
    remembers: verdict.rememberable ? suggestRules(subject) : [],
    subject,
  };
  process.stdout.write(`${flags.json === true ? JSON.stringify(explanation) : explain(explanation)}\n`);
}

interface Explanation extends Verdict {
  readonly call: string;
  /** Where the deciding rule or mode was set; null when nobody set it. */
  readonly source: string | null;
  readonly mode: Mode;
  /** In order; the last one decided. */
  readonly steps: readonly { readonly step: string; readonly found: string }[];
  /** The rules that "remember this" would save. */
  readonly remembers: readonly string[];
  readonly subject: CallSubject;
}

function sourceOf({ decidedBy }: Verdict, { values }: Configuration): string | null {
  const [, list, text] = /^rule:(\w+) (.+)$/s.exec(decidedBy) ?? [];
  const wanted = decidedBy.startsWith("mode:") ? "permissions.mode" : `permissions.${list ?? ""}`;
  const found = values.find(({ key, value }) => {
    const rule = typeof value === "object" && value !== null && "rule" in value ? value.rule : value;
    return key === wanted && (list === undefined || rule === text || text?.startsWith(`${String(rule)}, `) === true);
  });
  return found?.source ?? null;
}

const OUTCOMES = { allow: colour.green("allowed"), deny: colour.red("denied"), ask: colour.yellow("asked about") };

function explain({ call, behavior, decidedBy, reason, source, mode, steps, remembers, subject }: Explanation): string {
  const lines: [label: string, values: readonly string[]][] = [
    ["by", [source === null ? decidedBy : `${decidedBy}, from ${source}`]],
    ["mode", [mode]],
    ["steps", steps.map(({ step, found }, index) => `${index + 1}. ${step}: ${found}`)],
    ...aboutOf(subject),
    ["remember", remembers],
  ];
  const rows = lines.flatMap(([label, values]) =>
    values.map((value, index) => `${colour.dim((index === 0 ? label : "").padEnd(10))}${printable(value)}`),
  );
  return [`${printable(call)} would be ${OUTCOMES[behavior]}.`, printable(reason), "", ...rows].join("\n");
}

/** What was understood of the call. */
function aboutOf({ paths, shell, domain, subagent, inside }: CallSubject): [string, string[]][] {
  return [
    [
      "commands",
      (shell?.commands ?? []).map(({ words, via }) => {
        const said = words.map(({ text, dynamic }) => (dynamic ? `${text}?` : text)).join(" ");
        return via.length === 0 ? said : `${said} (by ${via.join(", ")})`;
      }),
    ],
    ["writes", (shell?.writes ?? []).flatMap(redirected)],
    ["reads", (shell?.reads ?? []).flatMap(redirected)],
    ["names", (shell?.mentions ?? []).map(where)],
    ["unclear", shell?.unclear ?? []],
    ["paths", paths.map((path) => `${where(path)} (${path.access})`)],
    ["domain", domain === undefined ? [] : [domain]],
    ["subagent", subagent === undefined ? [] : [subagent]],
    ["inside", [inside ? "everything it names is in the workspace" : "not all of it is in the workspace"]],
  ];
}

function redirected({ text, places }: Redirection): string[] {
  return places.length === 0 ? [`${text}, only known when it runs`] : places.map(where);
}

function where({ named, real }: Place): string {
  return named === real ? named : `${named}, which leads to ${real}`;
}
