import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Configuration } from "../../config/load.ts";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { PermissionVerdict } from "../../core/permission/decide.ts";
import type { CallSubject, NamedPath, Redirection } from "../../core/rules/subject.ts";
import type { Explanation } from "../../runtime/policy/policy-check.ts";
import { credentialFiles } from "../target/credential-files.ts";
import { type ChosenServer, chosenServer } from "../target/server.ts";
import { color } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface CheckFlags {
  readonly agent?: string;
  readonly mode?: Mode;
  readonly cwd: string;
  readonly json?: boolean;
}

interface Check extends Explanation {
  readonly call: string;
  /** Where the deciding rule or mode was set; null for defaults, and for decisions of a server. */
  readonly source: string | null;
}

/** Explains what would be decided about a call. Ignores grants, which belong to sessions. */
export async function check(text: string, flags: CheckFlags): Promise<void> {
  const server = await chosenServer();
  const checked = server === undefined ? await checkLocally(text, flags) : await checkOnServer(server, text, flags);
  process.stdout.write(`${flags.json === true ? hiddenFreeJson(checked) : explain(checked)}\n`);
}

async function checkLocally(text: string, flags: CheckFlags): Promise<Check> {
  const [{ hasSandbox }, { secretFiles }, { describeTool, requireKnownTools }, { explainCall }, { readCall }] =
    await Promise.all([
      import("../../app/check/has-sandbox.ts"),
      import("../../app/host/redactor.ts"),
      import("../../app/check/tool-traits.ts"),
      import("../../runtime/policy/policy-check.ts"),
      import("../../runtime/policy/policy-call.ts"),
    ]);
  const call = readCall(text);
  const configuration = await readConfiguration(flags);
  const { agent, sessionEnvironment: environment, home: capstanHome } = configuration;
  const host = {
    describeTool,
    requireKnownTools,
    hasSandbox: () => hasSandbox(configuration.environment),
    home: homedir(),
    capstanHome,
    secretFiles: secretFiles(capstanHome, configuration.environment, credentialFiles(configuration)),
  };
  const explained = explainCall(host, { call, agent, environment, cwd: resolve(flags.cwd) });
  return { call: text, ...explained, source: await sourceOf(explained, configuration) };
}

/** Default agent: that of the server. An agent file is read here, as for a session. */
async function checkOnServer({ client }: ChosenServer, text: string, flags: CheckFlags): Promise<Check> {
  const { awaitServer } = await import("../target/remote-failure.ts");
  const { decided_by: decidedBy, ...explained } = await awaitServer(
    client.checkPolicy({
      call: text,
      mode: flags.mode,
      ...(flags.cwd !== "." && { cwd: flags.cwd }),
      ...(flags.agent !== undefined && { agent_definition: (await readConfiguration({ ...flags, cwd: "." })).agent }),
    }),
  );
  return { ...explained, decidedBy, source: null };
}

async function readConfiguration(flags: CheckFlags): Promise<Configuration> {
  const { loadConfiguration } = await import("../../config/load.ts");
  return loadConfiguration({
    cwd: resolve(flags.cwd),
    environment: process.env,
    flags: { mode: flags.mode },
    agentFile: flags.agent === undefined ? undefined : resolve(flags.agent),
  });
}

async function sourceOf({ decidedBy }: PermissionVerdict, configuration: Configuration): Promise<string | null> {
  const values = await configuration.values();
  const [, list, text] = /^rule:(\w+) (.+)$/s.exec(decidedBy) ?? [];
  const wanted = decidedBy.startsWith("mode:") ? "permissions.mode" : `permissions.${list ?? ""}`;
  const found = values.find(({ key, value }) => {
    const rule = typeof value === "object" && value !== null && "rule" in value ? value.rule : value;
    return key === wanted && (list === undefined || rule === text || text?.startsWith(`${String(rule)}, `) === true);
  });
  return found?.source ?? null;
}

const OUTCOMES = { allow: color.green("be allowed"), deny: color.red("be denied"), ask: color.yellow("need approval") };

function explain({ call, behavior, decidedBy, reason, source, mode, steps, remembers, subject }: Check): string {
  const lines: [label: string, values: readonly string[]][] = [
    ["by", [source === null ? decidedBy : `${decidedBy}, from ${source}`]],
    ["mode", [mode]],
    ["steps", steps.map(({ step, found }, index) => `${index + 1}. ${step}: ${found}`)],
    ...aboutOf(subject),
    ["remember", remembers],
  ];
  const rows = lines.flatMap(([label, values]) =>
    values.map((value, index) => `${color.dim((index === 0 ? label : "").padEnd(10))}${escapeHidden(value)}`),
  );
  return [`${escapeHidden(call)} would ${OUTCOMES[behavior]}.`, escapeHidden(reason), "", ...rows].join("\n");
}

/** What Capstan recognized in the call. */
function aboutOf({ paths, shell, domain, subagent, skill, inside }: CallSubject): [string, string[]][] {
  return [
    [
      "commands",
      (shell?.commands ?? []).map(({ words, via }) => {
        const said = words.map(({ text, dynamic }) => (dynamic ? `${text}?` : text)).join(" ");
        return via.length === 0 ? said : `${said} (by ${via.join(", ")})`;
      }),
    ],
    ["writes", (shell?.writes ?? []).flatMap(redirectionText)],
    ["reads", (shell?.reads ?? []).flatMap(redirectionText)],
    ["names", (shell?.mentions ?? []).map(where)],
    ["unclear", shell?.unclear ?? []],
    ["paths", paths.map((path) => `${where(path)} (${path.access})`)],
    ["domain", domain === undefined ? [] : [domain]],
    ["subagent", subagent === undefined ? [] : [subagent]],
    ["skill", skill === undefined ? [] : [skill]],
    ["inside", [inside ? "all paths are in the workspace" : "some paths are outside the workspace"]],
  ];
}

function redirectionText({ text, places }: Redirection): string[] {
  return places.length === 0 ? [`${text}, known only at run time`] : places.map(where);
}

function where({ named, real }: NamedPath): string {
  return named === real ? named : `${named}, which resolves to ${real}`;
}
