import type { Engine, EngineHost, EngineRequest, EngineSession } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { PriceEntry } from "../../core/money/prices.ts";
import {
  answeredOnce,
  confinementOf,
  requireSandbox,
  type SandboxSupport,
  sandboxFinder,
  toldOfSandbox,
} from "../../sandbox/support.ts";
import { findContainment } from "../../process/containment.ts";
import { type SpentSeconds, Watchdog } from "../../process/limits.ts";
import { requireModelSettings } from "../model-traits.ts";
import { requireDirectory } from "../require-directory.ts";
import { requireKnownTools, unknownToolsError } from "../rule-tools.ts";
import { requireUsableSkills, SKILL_TOOL } from "../skills.ts";
import { readToolName } from "../tool-names.ts";
import { directCapabilities } from "./capabilities.ts";
import type { McpParts } from "./mcp-tools.ts";
import { type CompileSchema, InputChecks } from "./line/input-checks.ts";
import { RefusedMedia } from "./line/refused-media.ts";
import type { ModelToAsk } from "./model/model-to-ask.ts";
import { Tally } from "./model/tally.ts";
import { DirectSession } from "./session.ts";
import { BUILTIN_HERE, openSessionTools } from "./tools/session-tools.ts";

/** Settings shared by all sessions of the engine. */
export interface DirectSettings {
  /** Search path for the agent's commands and servers. */
  readonly path: string;
  /** How often a failed model request is retried. Waits start at half a second and double. */
  readonly retries: number;
  /** Default: the built-in price list. */
  readonly prices?: readonly PriceEntry[];
}

const VERSION = "1";
const LONG_CONTEXT_BETA = "context-1m-2025-08-07";

export interface DirectParts extends Pick<McpParts, "connectRemoteServer" | "connectServer"> {
  readonly compileSchema: CompileSchema;
}

/** The agent loop inside the host, using the Messages API of the session's gateway. */
export function directEngine(settings: DirectSettings, { compileSchema, ...servers }: DirectParts): Engine {
  const findSystem = sandboxFinder(settings.path);
  const findSupport = (): SandboxSupport => usableHere(findSystem());
  const containment = findContainment();
  const spent: SpentSeconds = new Map();
  const checks = new InputChecks(compileSchema);

  return { name: "direct", version: VERSION, capabilities: directCapabilities, validate, open };

  function validate(request: Parameters<Engine["validate"]>[0]): void {
    requireDirectory(request.cwd);
    requireTools(request);
    requireKnownTools(request);
    requireModelSettings(request.agent);
    requireUsableSkills(request.agent);
    requireObject(request.agent.output_schema);
    requireSandbox(request, findSupport);
  }

  async function open(request: EngineRequest, host: EngineHost): Promise<EngineSession> {
    requireDirectory(request.cwd);
    const support = answeredOnce(findSupport);
    requireSandbox(request, support);
    const watchdog = new Watchdog({ limits: request.limits ?? {}, stateDir: request.stateDir, spent });
    watchdog.requireRoom();
    const session = await openSessionTools(request, {
      ...servers,
      host,
      path: settings.path,
      confinement: confinementOf(request, support),
      containment: await containment,
    });
    if (request.signal?.aborted === true) {
      await session.close();
      throw new CapstanError("engine_failed", "The session was canceled while it was opening.");
    }
    const betas = ({ isLong }: ModelToAsk): readonly string[] =>
      isLong && request.gateway.isPlain !== true ? [LONG_CONTEXT_BETA] : [];
    const opened = new DirectSession(
      {
        request,
        session,
        checks,
        tally: new Tally(settings.prices),
        media: new RefusedMedia(),
        // A subagent that is driven alone does not have the call that started it in its own history.
        callIds: new Set(request.subagents.map(({ callId }) => callId)),
        retries: settings.retries,
        customTools: request.tools.flatMap(({ name, custom }) => (custom === true ? [name] : [])),
        betas,
      },
      {
        host,
        version: VERSION,
        day: new Date().toISOString().slice(0, "2026-01-01".length),
        told: toldOfSandbox(request, support),
        onEnd: () => watchdog.stop(),
      },
    );
    watchdog.watch(
      () => session.use(),
      (error) => opened.lose(error),
    );
    return opened;
  }
}

/** A sandbox that only the Claude CLI can use confines nothing here, so it must not count as one. */
export function usableHere(support: SandboxSupport): SandboxSupport {
  if (support.missing !== undefined || support.confine !== undefined) return support;
  return { missing: "The direct engine has no sandbox on this system. Use the claude engine." };
}

/** Throws for tools that this engine does not have. */
function requireTools({ agent, tools }: Pick<EngineRequest, "agent" | "tools">): void {
  const wanted = [...agent.tools, ...Object.values(agent.subagents).flatMap((subagent) => subagent.tools ?? [])];
  const skills = Object.keys(agent.skills ?? {}).length > 0 ? [SKILL_TOOL] : [];
  const known = [...BUILTIN_HERE, ...skills, ...tools.map(({ name }) => name)];
  const servers = Object.keys(agent.mcp_servers ?? {});
  const unknown = wanted.filter((tool) => {
    const name = readToolName(tool);
    return !known.includes(tool) && !(name.kind === "mcp" && servers.includes(name.server));
  });
  if (unknown.length === 0) return;
  throw unknownToolsError(unknown, known);
}

/** The model gives its answer as the input of a call, so the answer must be an object. */
function requireObject(schema: Readonly<Record<string, unknown>> | undefined): void {
  if (schema === undefined || (schema["type"] ?? "object") === "object") return;
  throw new CapstanError(
    "invalid_agent",
    `output_schema: the answer must be an object, but this schema asks for ${JSON.stringify(schema["type"])}. Wrap it in a property of an object.`,
  );
}
