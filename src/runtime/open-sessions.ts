import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AuthProvider } from "../core/auth/auth-provider.ts";
import type { Clock, Ids } from "../core/ports/clock.ts";
import type { Engines } from "../core/ports/engine.ts";
import { CapstanError } from "../core/errors.ts";
import type { Gateway } from "../core/ports/gateway.ts";
import type { RunHookCommand } from "../core/ports/hooks.ts";
import type { OutputChecks } from "../core/agent/output.ts";
import { type Redactor, secretVariables } from "../core/redaction/redaction.ts";
import type { LookUp } from "../core/agent/references.ts";
import type { LeaseOwner, SessionRecord, Store } from "../core/ports/store.ts";
import type { Admission } from "./engine/admission.ts";
import { type Budgets, budgetInForce, requirePrice, settleCutRequests } from "./engine/budgets.ts";
import type { PrepareOptions, Workspace, Workspaces } from "../core/ports/workspace.ts";
import { agentRules } from "../core/permission/rule-set.ts";
import { type LoadFunctions, sessionTools } from "./calls/custom-tools.ts";
import { guardFunctions } from "./programs/guarded-functions.ts";
import type { Pins } from "./programs/pins.ts";
import { Feed, type FeedItem } from "./log/feed.ts";
import { plannedResources, resourceAddedEvent } from "./files/session-archive.ts";
import { withHostVariables } from "./engine/host-variables.ts";
import { holdLease } from "./log/lease.ts";
import { withOutput } from "./turn/output.ts";
import type { Processes } from "./engine/processes.ts";
import { type IsTrustedFile, pinPrograms, ProgramGuard, programsPinnedEvent } from "./programs/program-guard.ts";
import type { AgentInDirectory } from "./recovery/project-file.ts";
import { DrivenSession } from "./session.ts";
import { SessionLocks } from "./log/session-locks.ts";
import { SessionLog } from "./log/session-log.ts";
import type { SessionOptions, StartOptions } from "./session-options.ts";
import { workspaceLocation, preparedEvents } from "./paths/session-location.ts";
import { requireUsableSession } from "./recovery/usable-session.ts";

export interface RuntimeDeps {
  readonly store: Store;
  readonly gateway: Gateway;
  readonly engines: Engines;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly owner: LeaseOwner;
  /** The home of the person whose files agents work on: what `~` means in a rule. */
  readonly home: string;
  /** Where each session's engine keeps its own files. */
  readonly stateRoot: string;
  /** Capstan's own directory. */
  readonly capstanHome: string;
  /** Files of the host that are secret wherever they are. */
  readonly secretFiles: readonly string[];
  readonly workspaces: Workspaces;
  readonly hibernateAfterMs: number;
  readonly outputs: OutputChecks;
  readonly loadFunctions: LoadFunctions;
  /** The model API of sessions whose agent names none; undefined when it has no limits of its own. */
  readonly provider: AuthProvider | undefined;
  /** Looks up a variable of the host that a definition refers to. Throws for one that no agent may have. */
  readonly variable: LookUp;
  readonly runHookCommand: RunHookCommand;
  /** Whether a person has trusted a file with exactly this content. */
  readonly isTrustedFile: IsTrustedFile;
  /** Removes secrets from everything that is stored or shown. */
  readonly redactor: Redactor;
  readonly budgets: Budgets;
  readonly admission: Admission;
  readonly processes: Processes;
  /** Whether a process that holds a lease has certainly ended, so that its sessions need not wait for the lease to expire. */
  readonly isGone: (owner: LeaseOwner) => boolean;
  /** Closes the parts that were opened for this runtime. */
  readonly release: () => Promise<void>;
}

/** A session that is being opened. */
interface Opened {
  readonly log: SessionLog;
  readonly record: SessionRecord;
  readonly workspace: Workspace;
}

interface CreateOptions<Output> extends SessionOptions<Output>, PrepareOptions {
  readonly files?: StartOptions["files"];
  readonly repositories?: StartOptions["repositories"];
  readonly withheld?: StartOptions["withheld"];
  readonly programs?: StartOptions["programs"];
  /** The pins of the session that a fork comes from. */
  readonly inherited?: Pins | undefined;
}

/** What happens between a session's workspace and its first message. */
interface CreateSteps {
  /** The agent in the workspace that was created for it. */
  readonly inPlace?: (cwd: string) => AgentInDirectory;
  readonly prepare?: (opened: Opened) => Promise<void>;
}

/** The sessions that a host drives: creates and opens them. */
export class OpenSessions {
  readonly #deps: RuntimeDeps;
  readonly #feeds = new Map<string, Feed>();
  readonly #sessions = new Map<string, DrivenSession>();
  /** Sessions that are being opened: opening one twice would share the lease. */
  readonly #opening = new Set<string>();
  readonly locks = new SessionLocks();
  /** Called with everything that the sessions publish. It must not throw. */
  onPublish: ((sessionId: string, item: FeedItem) => void) | undefined;

  constructor(deps: RuntimeDeps) {
    this.#deps = deps;
  }

  get(sessionId: string): DrivenSession | undefined {
    return this.#sessions.get(sessionId);
  }

  all(): readonly DrivenSession[] {
    return [...this.#sessions.values()];
  }

  /** Creates a session with its workspace. Refuses what cannot work before anything is stored. */
  async create<Output>(
    given: Omit<SessionRecord, "id" | "createdAt" | "cwd" | "resources" | "archivedAt" | "ownProgram">,
    options: CreateOptions<Output>,
    { inPlace, prepare }: CreateSteps = {},
  ): Promise<DrivenSession<Output>> {
    const { store, ids, clock, workspaces } = this.#deps;
    await withOutput(this.#deps.outputs, given.agent, options.output);
    // The programs in the source directory; those in a new workspace are pinned when it exists.
    const pins = pinPrograms(given.agent, { cwd: given.source, source: given.source }, options.programs);
    await requireUsableSession(this.#deps, { ...given, cwd: given.source }, { ...options, pins });
    for (const model of [given.agent.model, given.agent.fallback_model ?? []].flat())
      requirePrice(this.#deps.budgets, { ...given.agent, model });
    const id = ids.next("sesn");
    const request = { sessionId: id, source: given.source, workspace: given.environment.workspace };
    const prepared = await workspaces.prepare(request, options);
    const { cwd, source } = prepared;
    const planned = plannedResources(options, this.#deps);
    const resources = planned.map(({ resource }) => resource);
    const ownProgram = isOfProgram(options);
    const made = { ...given, id, createdAt: clock.now(), cwd, source, resources, archivedAt: null, ownProgram };
    try {
      for (const { content } of planned) await workspaces.put(workspaceLocation(made), content, options);
      const { agent, facts } = inPlace?.(cwd) ?? { agent: given.agent, facts: [] };
      const record = { ...made, agent };
      const { project } = record;
      const isOld = async (): Promise<boolean> => (await store.sessions({ project, limit: 1 })).length > 0;
      await this.#deps.budgets.accounts?.note(project, source, isOld);
      await store.createSession(record);
      return await this.drive(record, options, async (opened) => {
        await opened.log.append([
          ...preparedEvents(given.environment, prepared),
          ...resources.map((resource) => resourceAddedEvent(resource)),
          ...facts,
          ...(options.withheld === undefined
            ? []
            : [{ type: "capstan.settings_withheld" as const, ...options.withheld }]),
        ]);
        await prepare?.(opened);
        if (options.inherited !== undefined) await opened.log.append([programsPinnedEvent(options.inherited)]);
        else await this.#pin(opened, options.programs);
      });
    } catch (thrown) {
      if (given.environment.workspace.kind !== "in-place")
        await workspaces.remove(workspaceLocation(made)).catch(() => {});
      // Nobody could continue it. If the store fails here too, the first error already says why.
      await this.#delete(id).catch(() => {});
      throw thrown;
    }
  }

  async #delete(sessionId: string): Promise<void> {
    const { store, owner, isGone, stateRoot } = this.#deps;
    if ((await store.session(sessionId)) === undefined) return;
    await this.locks.run(sessionId, async () => {
      const held = await holdLease(store.leases, { sessionId, owner, isGone });
      try {
        await store.deleteSession(sessionId, held.lease.fence);
      } finally {
        await held.release();
      }
    });
    await rm(join(stateRoot, sessionId), { recursive: true, force: true });
  }

  /** Takes the session's lease and assembles the session. `prepare` sees its log before anything else happens. */
  async drive<Output>(
    record: SessionRecord,
    options: SessionOptions<Output>,
    prepare: (opened: Opened) => Promise<void>,
  ): Promise<DrivenSession<Output>> {
    if (this.#sessions.has(record.id) || this.#opening.has(record.id))
      throw new CapstanError(
        "session_busy",
        `This program already drives ${record.id}. Use the session it has, or close it first.`,
      );
    this.#opening.add(record.id);
    try {
      return await this.locks.run(record.id, () => this.#open(record, options, prepare));
    } finally {
      this.#opening.delete(record.id);
    }
  }

  async #open<Output>(
    record: SessionRecord,
    options: SessionOptions<Output>,
    prepare: (opened: Opened) => Promise<void>,
  ): Promise<DrivenSession<Output>> {
    const { store, clock, ids, owner, isGone, stateRoot } = this.#deps;
    const sessionId = record.id;
    const { agent, output } = await withOutput(this.#deps.outputs, record.agent, options.output);
    const held = await holdLease(store.leases, { sessionId, owner, isGone });
    try {
      const feed = this.feed(sessionId);
      const resolved = withHostVariables(record, this.#deps.variable);
      const variables = { ...resolved.variables, ...options.variables };
      const redactor = this.#deps.redactor.with([...secretVariables(variables), ...resolved.secrets]);
      const log = await SessionLog.open({ store, sessionId, lease: held.lease, feed, clock, ids, redactor });
      await log.append((state) => settleCutRequests(state, this.#deps.budgets));
      if (!record.ownProgram && isOfProgram(options)) await log.append([], { change: { ownProgram: true } });
      const workspace = this.#deps.workspaces.open(workspaceLocation(record), record.environment.checkpoints);
      await prepare({ log, record, workspace });
      // A session of an earlier version has no pins yet.
      if (log.state.programs === undefined) await this.#pin({ log, record }, {});
      const { cwd, source } = record;
      const { isTrustedFile } = this.#deps;
      const programs = new ProgramGuard({ cwd, source, isTrustedFile, pins: () => log.state.programs });
      const { budgets } = this.#deps;
      const limited = {
        ...agent,
        // A getter, because limits may change while the session is driven.
        get budget() {
          return budgetInForce(budgets, { agent: agent.name, budget: agent.budget, state: log.state });
        },
      };
      const session = new DrivenSession<Output>({
        ...this.#deps,
        record: { ...record, agent: limited },
        log,
        feed,
        stateDir: join(stateRoot, sessionId),
        workspace,
        variables,
        servers: resolved.servers,
        programs,
        tools: await sessionTools(guardFunctions(this.#deps.loadFunctions, programs), agent, options.tools),
        rules: agentRules(agent),
        ask: options.askPermission,
        givenHooks: options.hooks,
        output,
        release: () =>
          this.locks.run(sessionId, async () => {
            this.#sessions.delete(sessionId);
            feed.release();
            this.tidy(sessionId);
            await rm(join(stateRoot, sessionId, "tmp"), { recursive: true, force: true });
            await held.release();
          }),
      });
      held.onLost((error) => {
        this.#sessions.delete(sessionId);
        session.abandon(error);
        feed.release();
      });
      this.#sessions.set(sessionId, session);
      return session;
    } catch (thrown) {
      await held.release();
      throw thrown;
    }
  }

  /** Stores the hashes of the agent's programs; nothing when it has none. */
  async #pin({ log, record }: Pick<Opened, "log" | "record">, trusted: StartOptions["programs"]): Promise<void> {
    const { agent, cwd, source } = record;
    const pins = pinPrograms(agent, { cwd, source }, trusted);
    if (Object.keys(pins).length > 0) await log.append([programsPinnedEvent(pins)]);
  }

  /** Reaches everyone in this host who follows the session. */
  feed(sessionId: string): Feed {
    const known = this.#feeds.get(sessionId) ?? new Feed((item) => this.onPublish?.(sessionId, item));
    this.#feeds.set(sessionId, known);
    return known;
  }

  /** Removes a feed that nobody writes to and nobody follows. */
  tidy(sessionId: string): void {
    const isUsed = this.#sessions.has(sessionId) || this.#opening.has(sessionId);
    if (!isUsed && this.#feeds.get(sessionId)?.isFollowed === false) this.#feeds.delete(sessionId);
  }
}

/** Whether the session needs something that only its program can give. */
function isOfProgram({ hooks, tools = [], variables = {} }: SessionOptions): boolean {
  return hooks !== undefined || tools.length > 0 || Object.keys(variables).length > 0;
}
