import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { claudeCodePromptChars, loadTools, missingFor, missingPrograms } from "../../app/check/agent-problems.ts";
import type { ReadAgent } from "../../config/agent/agent-file.ts";
import { agentPath } from "../../config/agent/agent-path.ts";
import { type Configuration, loadConfiguration } from "../../config/load.ts";
import type { ReadSuite } from "../../config/suite/suite-file.ts";
import { isSuiteFile } from "../../config/suite/suite-names.ts";
import { fieldName } from "../../config/yaml/problems.ts";
import { ASSUMED_TRUST, recordedTrust } from "../../config/trust/recorded-trust.ts";
import { unreadDotEnv } from "../../config/variables/unread-dot-env.ts";
import { CapstanError } from "../../core/errors.ts";
import { withProjectFile } from "../../runtime/recovery/project-file.ts";
import { withPositions, problemsWith, providerLimits } from "./agent-check.ts";
import { usageError } from "../terminal/failure.ts";
import { casesText, reportText } from "./validate-view.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface ValidateFlags {
  readonly import?: boolean;
  readonly json?: boolean;
}

/** The agent in a file, and notes about it. */
export interface AgentReport extends Pick<Configuration, "agent" | "sessionEnvironment"> {
  /** The file itself and the files it extends. */
  readonly files: readonly string[];
  readonly instructionsFile: string | undefined;
  /** Characters of Claude Code's prompt before the instructions; undefined if unknown. */
  readonly promptBefore: number | undefined;
  /** The tools of its functions; undefined if they were not loaded. */
  readonly functionTools: readonly string[] | undefined;
  /** Whether the agent can run without --rehearsal. */
  readonly hasCredential: boolean;
  /** Number of test cases in the file. */
  readonly tests: number | undefined;
  /** Things that are not errors but may surprise. */
  readonly notes: readonly string[];
}

/** Loads what a run would load, without starting a process. Returns the exit code. */
export async function validate(file: string, flags: ValidateFlags): Promise<number> {
  const path = agentPath(resolve(file));
  try {
    if (!existsSync(path) && file === "agent.yaml")
      throw usageError(
        "No agent.yaml in this directory. Name a file (capstan validate FILE), or create one (capstan init).",
      );
    if (isSuiteFile(path)) return await validateSuite(path, file, flags);
    const report = await examine(path, flags);
    print(flags.json === true ? hiddenFreeJson(jsonOf(report, path)) : reportText(report, agentPath(file)));
    return 0;
  } catch (error) {
    if (flags.json !== true || !(error instanceof CapstanError)) throw error;
    print(hiddenFreeJson({ valid: false, file: path, code: error.code, problems: problemsIn(error) }));
    return error.exitCode;
  }
}

async function validateSuite(path: string, file: string, { json }: ValidateFlags): Promise<number> {
  const { suite } = await suiteIn(path);
  const { name, agent, cases } = suite;
  print(
    json === true
      ? hiddenFreeJson({ valid: true, file: path, suite: name, agent: agent.name, cases: cases.map((one) => one.name) })
      : `✓ ${file} is valid: ${casesText(cases.length)} for ${agent.name}\n\nRun it: capstan test ${file}`,
  );
  return 0;
}

/** Imported lazily, because most agent files contain no cases. */
async function suiteIn(path: string): Promise<ReadSuite> {
  const { readSuite } = await import("../../config/suite/suite-file.ts");
  return readSuite(path, process.env, ASSUMED_TRUST);
}

async function examine(path: string, flags: ValidateFlags): Promise<AgentReport> {
  const cwd = process.cwd();
  const given = { cwd, environment: process.env, flags: {}, agentFile: path };
  // --import runs code, so the file must be trusted. Otherwise everything is checked, trusted or not.
  const trust = flags.import === true ? undefined : ASSUMED_TRUST;
  const configuration = await loadConfiguration({ ...given, problemsWith, trust });
  const { agent, agentFile, sessionEnvironment, environment } = configuration;
  const functionTools =
    flags.import === true
      ? await loadTools(agent).catch((error: unknown) => {
          throw withPositions(error, agentFile);
        })
      : undefined;
  const missing = await aboutCredentials(configuration, path);
  const tests = agentFile?.hasTests === true ? (await suiteIn(path)).suite.cases.length : undefined;
  return {
    tests,
    agent,
    sessionEnvironment,
    files: agentFile?.files ?? [],
    instructionsFile: agentFile?.instructionsFile,
    promptBefore: agent.instructions_mode === "append" ? claudeCodePromptChars(agent.model) : 0,
    functionTools,
    hasCredential: missing.length === 0,
    notes: [
      ...untrustedNotes(configuration),
      ...missing,
      ...providerLimits(configuration),
      ...aboutVariables(agentFile),
      ...missingPrograms(agent, environment["PATH"] ?? ""),
      ...aboutProjectFile(configuration, cwd),
      ...(agent.functions !== undefined && functionTools === undefined ? [aboutFunctions(agentFile)] : []),
    ],
  };
}

/** Settings that have no effect until the file is trusted. */
function untrustedNotes({ home, trust }: Configuration): readonly string[] {
  const { isTrusted } = recordedTrust(home);
  return trust
    .filter(({ item }) => item.widens.length > 0 && !isTrusted(item))
    .map(({ item }) => {
      const fields = [...new Set(item.widens.map(({ field }) => field))].join(", ");
      return `${item.path} is not trusted yet, so these settings would have no effect: ${fields}. To review and trust: capstan trust ${item.path}`;
    });
}

function aboutFunctions(agentFile: ReadAgent | undefined): string {
  const names = (agentFile?.unchecked ?? []).map(({ name, path }) => `${name} (${fieldName(path)})`);
  const open = names.length === 0 ? "" : `, so Capstan cannot check that they provide ${names.join(", ")}`;
  return `Its functions were not loaded, because that runs their code${open}. To check them too: capstan validate --import`;
}

async function aboutCredentials(configuration: Configuration, file: string): Promise<readonly string[]> {
  const { agent, home, environment, dotEnv, settings, credentials } = configuration;
  const { auth } = settings;
  const provider = agent.auth ?? auth.provider;
  if (provider === undefined && credentials.length > 0) return [];
  const missing =
    provider === undefined
      ? ["No model credential found: run capstan auth login, or set ANTHROPIC_API_KEY. --rehearsal needs none"]
      : (await missingFor(provider, { home, environment, dotEnv, auth })).map(
          ({ what, how }) => `${provider}: missing ${what}: ${how}. --rehearsal needs none`,
        );
  if (missing.length === 0) return [];
  return [...missing, ...[unreadDotEnv(file, { cwd: process.cwd(), home, dotEnv }) ?? []].flat()];
}

function aboutVariables(agentFile: ReadAgent | undefined): string[] {
  const { unset = [] } = agentFile ?? {};
  return unset.map(
    ({ path, name }) =>
      `${fieldName(path)} needs the variable ${name}, which is not set; set it in the shell or in the project's .env before you start a session`,
  );
}

/** Whether a CLAUDE.md in the workspace and the agent's `setting_sources` match. */
function aboutProjectFile({ agent }: Configuration, cwd: string): string[] {
  const [found] = withProjectFile(agent, cwd).facts;
  if (found !== undefined && !found.used)
    return [`The agent does not read ${found.path}. To use it: setting_sources: [project]`];
  return agent.setting_sources?.includes("project") === true && found === undefined
    ? ["setting_sources contains project, but there is no CLAUDE.md in this directory"]
    : [];
}

function jsonOf(
  { agent, sessionEnvironment, files, instructionsFile, functionTools, promptBefore, tests, notes }: AgentReport,
  file: string,
) {
  const { skills, mcp_servers: servers, functions, ...plain } = agent;
  return {
    valid: true,
    file,
    files,
    agent: {
      ...plain,
      ...(servers && { mcp_servers: Object.keys(servers) }),
      ...(skills && { skills: Object.keys(skills) }),
      ...(functions && { functions, function_tools: functionTools ?? null }),
    },
    instructions: {
      file: instructionsFile ?? null,
      characters: agent.instructions.length,
      characters_before: promptBefore ?? null,
    },
    environment: { workspace: sessionEnvironment.workspace, sandbox: sessionEnvironment.sandbox.mode },
    ...(tests !== undefined && { tests }),
    notes,
  };
}

function problemsIn({ data, message }: CapstanError): readonly string[] {
  return Array.isArray(data["problems"]) ? (data["problems"] as string[]) : [message];
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
