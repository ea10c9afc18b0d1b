import type { Approval, ApprovalAnswer, ApprovalQuery, Grant } from "../../core/session/approval.ts";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Store } from "../../core/ports/store.ts";
import { acceptAnswer } from "./answers.ts";

export interface Answerer {
  /** Who answers, as far as it is known. */
  readonly by: string;
  /** Where the answer comes from (default: `library`). */
  readonly from?: string;
  /** Over a server: the id of their key or login. */
  readonly key?: string;
}

/** The approvals of all sessions, whichever process drives them. */
export class Inbox {
  readonly #deps: InboxDeps;

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  /** Oldest first. */
  list(query?: ApprovalQuery): Promise<readonly Approval[]> {
    return this.#deps.store.approvals.list(query);
  }

  async get(approvalId: string): Promise<Approval> {
    const approval = await this.#deps.store.approvals.get(approvalId);
    if (approval === undefined)
      throw new CapstanError("not_found", `There is no approval ${approvalId}. List the approvals to find its id.`);
    return approval;
  }

  /**
   * Stores the answer; the first one wins, and any other is rejected with `approval_closed`. The session continues at
   * once if this host drives it, soon if another does, and otherwise when it is resumed.
   */
  async answer(approvalId: string, answer: ApprovalAnswer, { by, from = "library", key }: Answerer): Promise<Approval> {
    const approval = await this.get(approvalId);
    await acceptAnswer(this.#deps, { approval, answer, by, from, key });
    await this.#deps.onAnswer(approval.sessionId);
    return this.get(approvalId);
  }
}

interface InboxDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onAnswer: (sessionId: string) => Promise<void>;
}

/** Remembered answers. */
export class Grants {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Oldest first. */
  list(): Promise<readonly Grant[]> {
    return this.#store.approvals.grants();
  }

  async revoke(grantId: string): Promise<void> {
    if (await this.#store.approvals.revoke(grantId)) return;
    throw new CapstanError("not_found", `There is no grant ${grantId}. List the grants to find its id.`);
  }
}
