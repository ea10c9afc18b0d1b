import { homedir } from "node:os";
import type { Environment } from "../../config/project/home.ts";
import { type Configuration, loadConfiguration, type Trusting } from "../../config/load.ts";
import { KnownProjects } from "../../config/project/known-projects.ts";
import { findProject } from "../../config/project/project.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import { withheldNote } from "../../config/trust/withheld-note.ts";
import type { Store } from "../../core/ports/store.ts";
import { readOutput } from "../../runtime/outputs/read-output.ts";
import type { ApiDeps, ProjectDefaults } from "../../server/api/deps.ts";
import type { ServerDeps } from "../../server/http/context.ts";
import { providerStatuses, credentialToWire } from "../credentials/credential-status.ts";
import type { WorkerPool } from "../heavy/pool.ts";
import { heavyPorts } from "../heavy/ports.ts";
import { hasSandbox } from "../check/has-sandbox.ts";
import { listModels } from "../credentials/models.ts";
import { secretFiles } from "../host/redactor.ts";
import { describeTool, requireKnownTools } from "../check/tool-traits.ts";
import { directoryOf, trustPort } from "./trust-port.ts";

export interface PortOptions {
  /** The configuration of the directory that the server was started in. */
  readonly configuration: Pick<
    Configuration,
    "home" | "environment" | "project" | "settings" | "credentials" | "dotEnv"
  >;
  /** The shell's variables; each project adds its own. */
  readonly shell: Environment;
  readonly cwd: string;
  /** The engine of agents that name none, if set when the server was started. */
  readonly engine?: EngineName | undefined;
  /** The trust in the project's files. Default: the recorded trust. */
  readonly trust?: Trusting | undefined;
}

/** Connects `/api` to the adapters and the configuration. */
export function apiPorts(options: PortOptions, store: Store, pool: WorkerPool): Omit<ApiDeps, keyof ServerDeps> {
  const { configuration, shell } = options;
  const { home, environment, settings, credentials, dotEnv } = configuration;
  // A project's `.env`, if it contains a credential or is not trusted.
  const files = [
    ...credentials.map(({ source }) => source).filter((source) => source !== "shell"),
    ...(dotEnv?.unused === undefined ? [] : [dotEnv.path]),
  ];
  const secret = secretFiles(home, environment, files);
  const known = new KnownProjects(home);
  return {
    ledger: store.ledger,
    budgets: settings.budgets,
    countedWith: (project) => known.countedWith(project),
    ...heavyPorts(pool),
    models: async () => (await listModels({ home, environment, auth: settings.auth })).data,
    credentials: async () =>
      (await providerStatuses({ home, environment, auth: settings.auth, dotEnv })).map(credentialToWire),
    checkAgent: async (agent, { project, signal }) => {
      const { checkAgent } = await import("../check/check-stored-agent.ts");
      const { environment: place } = await defaultsOf(options, project);
      const around = { place, environment, home: homedir(), capstanHome: home, secretFiles: secret, signal };
      return checkAgent(agent, { ...around, credentials: { home, environment, auth: settings.auth, dotEnv } });
    },
    log: store,
    projectOf: (directory) => findProject(directory, shell).id,
    output: (sessionId, call) => readOutput(store, sessionId, call),
    policy: {
      describeTool,
      requireKnownTools,
      hasSandbox: () => hasSandbox(environment),
      home: homedir(),
      capstanHome: home,
      secretFiles: secret,
    },
    defaults: (project) => defaultsOf(options, project),
    trust: trustPort(options),
    suites: { runs: store.suiteRuns, page: suitePage },
  };
}

/** Loaded on demand, because few requests need it. */
export const suitePage: NonNullable<ApiDeps["suites"]>["page"] = async (run) => {
  const { htmlReport, HTML_REPORT_POLICY: policy } = await import("../../eval/reports/html.ts");
  return { html: htmlReport(run), policy };
};

/**
 * The defaults of `capstan run` in the project's directory. Read each time, so that changes take effect immediately.
 */
async function defaultsOf(options: PortOptions, project: string): Promise<ProjectDefaults> {
  const { shell, trust, engine } = options;
  const directory = directoryOf(options, project);
  const flags = { engine };
  const loaded = await loadConfiguration({ cwd: directory ?? homedir(), environment: shell, flags, trust });
  const { agent, sessionEnvironment: environment } = loaded;
  return { agent, environment, directory, withheld: withheldNote(loaded) };
}
