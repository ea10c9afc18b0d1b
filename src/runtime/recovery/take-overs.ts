import { parseAgent } from "../../core/agent/agent-definition.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { inTurn, type SessionState } from "../../core/session/state.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { abandonedSessions, type Recovered } from "./abandoned-sessions.ts";
import { budgetChange } from "../engine/budgets.ts";
import { requireNotArchived } from "../files/session-archive.ts";
import type { OpenSessions, RuntimeDeps } from "../open-sessions.ts";
import type { DrivenSession } from "../session.ts";
import { engineInForce } from "../engine/session-engine.ts";
import { loadState } from "../log/stored-state.ts";
import type { ResumeOptions } from "../session-options.ts";
import { requireUsableSession } from "./usable-session.ts";
import { findWaitingTurn } from "../approvals/find-waiting-turn.ts";

/** Takes over sessions that this host or another one left. */
export class TakeOvers {
  readonly #deps: RuntimeDeps;
  readonly #open: OpenSessions;

  constructor(deps: RuntimeDeps, open: OpenSessions) {
    this.#deps = deps;
    this.#open = open;
  }

  async take<Output>(sessionId: string, options: ResumeOptions<Output>): Promise<DrivenSession<Output>> {
    const stored = await this.require(sessionId);
    requireNotArchived(stored);
    const record = { ...stored, cwd: await findWaitingTurn(this.#deps.store, stored, options.cwd) };
    const { state } = await loadState(this.#deps.store, sessionId);
    const changed = options.engine;
    // A turn that was cut off ends on the engine that it began on.
    const engine = changed === undefined || inTurn(state) ? engineInForce(record.agent, state) : changed;
    await requireUsableSession(this.#deps, record, { ...options, pins: state.programs }, engine);
    const budget = options.budget && parseAgent({ ...record.agent, budget: options.budget }).budget;
    const session = await this.#open.drive(
      record,
      options,
      async ({ log }) => void (await log.append(budgetChange(budget))),
    );
    const resumed = await this.#recover(session, options);
    if (changed !== undefined) await resumed.setEngine(changed);
    return resumed;
  }

  async #recover<Output>(
    session: DrivenSession<Output>,
    options: Pick<ResumeOptions, "onCrash">,
  ): Promise<DrivenSession<Output>> {
    await session.recover(options.onCrash ?? "continue").catch(async (thrown: unknown) => {
      await session.close().catch(() => {});
      throw thrown;
    });
    return session;
  }

  /** Without the hooks, tools and variables of a program; rejects for a session that needs them. */
  async takeAlone(sessionId: string, options: Pick<ResumeOptions, "onCrash"> = {}): Promise<DrivenSession> {
    requireNoProgram(await this.require(sessionId));
    return this.take(sessionId, options);
  }

  /** Ends the session's turn, whoever left it, and releases the session. */
  async letGo(sessionId: string, state: SessionState): Promise<void> {
    const driven =
      this.#open.get(sessionId) ?? (inTurn(state) ? await this.take(sessionId, { onCrash: "stop" }) : undefined);
    await driven?.interrupt();
    await driven?.close();
  }

  listAbandoned(): Promise<readonly string[]> {
    return abandonedSessions(this.#deps.store, this.#deps.isGone, this.#deps.clock.now());
  }

  async recover(onCrash: "continue" | "stop"): Promise<readonly Recovered[]> {
    const recovered: Recovered[] = [];
    for (const id of await this.listAbandoned()) recovered.push(await this.#recoverOne(id, onCrash));
    return recovered;
  }

  async require(sessionId: string): Promise<SessionRecord> {
    const record = await this.#deps.store.session(sessionId);
    if (record === undefined)
      throw new CapstanError(
        "not_found",
        `There is no session ${sessionId} in this store. List the sessions to find its id.`,
      );
    return record;
  }

  async #recoverOne(sessionId: string, onCrash: "continue" | "stop"): Promise<Recovered> {
    try {
      // Ending a turn needs nothing from a program.
      await using session = await (onCrash === "stop"
        ? this.take(sessionId, { onCrash })
        : this.takeAlone(sessionId, { onCrash }));
      await session.waitUntilIdle();
      return { sessionId, stopReason: session.state.stopReason?.type };
    } catch (thrown) {
      return { sessionId, error: messageOf(thrown) };
    }
  }
}

/** Throws if only the program that started the session may continue it, or a copy of it. */
export function requireNoProgram({ id, ownProgram }: SessionRecord): void {
  if (!ownProgram) return;
  throw new CapstanError(
    "unsupported",
    `A program started session ${id} with its own hooks, tools or variables, and cannot continue without them. Resume it from that program.`,
    { data: { sessionId: id } },
  );
}
