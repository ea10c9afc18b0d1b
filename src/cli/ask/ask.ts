import { setTimeout as sleep } from "node:timers/promises";
import { isAboutConfiguration } from "../../core/permission/protected/in-call.ts";
import type { Approval, ApprovalAnswer, AskPermission } from "../../core/session/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import { userName } from "../terminal/user-name.ts";
import { type AskingHost, watchApproval } from "./ask-watch.ts";
import { PromptAborted, NO_TERMINAL, openPrompts } from "./ask-prompts.ts";
import { onAbort } from "../../core/text/on-abort.ts";
import type { GivenAnswer, Remembering } from "./ask-tool.ts";
import { usageError } from "../terminal/failure.ts";
import { color, columns, shortId } from "../terminal/text.ts";
import { isAgent } from "../terminal/person.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

export interface AskFlags {
  readonly yes?: boolean;
  readonly deny?: boolean;
  readonly json?: boolean;
}

/** Output that must pause while a question is on the screen. */
export interface PausableOutput {
  /** Resolves when the screen and the keyboard are free. */
  hold(): void | Promise<void>;
  release(): void;
}

/** Answers approvals: a flag, or the person at the terminal. */
interface Answers {
  readonly by: string;
  give(approval: Approval, signal: AbortSignal): Promise<GivenAnswer>;
}

/** How long a question waits for earlier output to be printed. */
const CATCH_UP_MS = 500;

/** Asks about a command's approvals, one after another. */
export class Asking {
  readonly #host: AskingHost;
  readonly #answers: Answers | undefined;
  readonly #seen = new Map<string, PromiseWithResolvers<void>>();
  /** Postponed by the person; not asked again in this run. */
  readonly #left = new Set<string>();
  /** Being asked, or answered. */
  readonly #asked = new Map<string, Promise<boolean>>();
  #screen: PausableOutput | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  /** Number of questions on the screen or waiting for it. */
  #open = 0;
  /** Aborts when the terminal is gone. */
  readonly #gone = new AbortController();

  /** `escapeEnds`: Escape at a question interrupts the turn, like Ctrl-C. */
  constructor(host: AskingHost, flags: AskFlags, { escapeEnds = false }: { readonly escapeEnds?: boolean } = {}) {
    this.#host = host;
    this.#answers = answersFor(flags, { host, escapeEnds });
  }

  /** Whether anyone answers here. */
  get isAttended(): boolean {
    return this.#answers !== undefined;
  }

  /** Sets the screen that shows the session. */
  attach(screen: PausableOutput | undefined): void {
    this.#screen = screen;
  }

  /**
   * Call when the terminal is closed: open questions stay pending, and the session waits. Returns whether any were open.
   */
  leave(): boolean {
    this.#gone.abort(NO_TERMINAL);
    return this.#open > 0;
  }

  /** Call when the request has been printed. */
  markSeen(approvalId: string): void {
    this.#sight(approvalId).resolve();
  }

  /**
   * Answers through the inbox instead of the return value, so that the log records the command line as the source, and
   * an invalid answer leads to another question instead of a denial.
   */
  readonly handler: AskPermission = async ({ approvalId, signal }) => {
    if (this.#answers === undefined) return undefined;
    const aborted = new Promise<void>((done) => void onAbort(signal, done));
    await Promise.race([this.#sight(approvalId).promise, sleep(CATCH_UP_MS), aborted]);
    if (this.#left.has(approvalId)) return undefined;
    if (await this.#askInTurn(approvalId, signal)) await aborted;
    return undefined;
  };

  /** Makes postponed approvals be asked again. */
  askAgain(): void {
    this.#left.clear();
  }

  /** Asks about the session's pending approvals. Resolves to whether any was answered. */
  async askPending(sessionId: string, signal: AbortSignal): Promise<boolean> {
    if (this.#answers === undefined) return false;
    let answered = false;
    for (const { id } of await this.#host.approvals.list({ sessionId, status: "pending" })) {
      if (this.#left.has(id) || signal.aborted) continue;
      using watch = watchApproval(this.#host, id, signal);
      if (await this.#askInTurn(id, watch.signal)) answered = true;
    }
    return answered;
  }

  #sight(approvalId: string): PromiseWithResolvers<void> {
    const known = this.#seen.get(approvalId) ?? Promise.withResolvers<void>();
    this.#seen.set(approvalId, known);
    return known;
  }

  /** Queues the question. The session and this command may both request it; it is asked once. */
  #askInTurn(approvalId: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#asked.get(approvalId);
    if (known !== undefined) return known;
    this.#open += 1;
    const either = AbortSignal.any([signal, this.#gone.signal]);
    const asked = this.#queue.then(() => this.#ask(approvalId, either)).finally(() => (this.#open -= 1));
    this.#asked.set(approvalId, asked);
    this.#queue = asked.catch(() => false).then((isAnswered) => isAnswered || this.#asked.delete(approvalId));
    return asked;
  }

  /** Resolves to whether it was answered, here or elsewhere. */
  async #ask(approvalId: string, signal: AbortSignal): Promise<boolean> {
    const answers = this.#answers;
    if (answers === undefined) return false;
    await this.#screen?.hold();
    try {
      for (;;) {
        const approval = await this.#host.approvals.get(approvalId);
        if (approval.status !== "pending") return this.#reportAnswered(approval);
        const given = await answers.give(approval, signal);
        if (typeof given !== "string") {
          if (await this.#save(approval, given, answers.by)) return true;
          continue;
        }
        this.#left.add(approvalId);
        if (given === "later") return false;
        // Like Ctrl-C outside a prompt. Ending the turn closes the approval.
        process.kill(process.pid, "SIGINT");
        return true;
      }
    } catch (thrown) {
      if (!(thrown instanceof PromptAborted)) throw thrown;
      const approval = await this.#host.approvals.get(approvalId);
      if (approval.status !== "pending") return this.#reportAnswered(approval);
      this.#left.add(approvalId);
      return false;
    } finally {
      this.#screen?.release();
    }
  }

  /** False if the answer is invalid; prints why. */
  async #save({ id }: Approval, answer: ApprovalAnswer, by: string): Promise<boolean> {
    try {
      await this.#host.approvals.answer(id, answer, { by, from: "cli" });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof CapstanError)) throw thrown;
      if (thrown.code === "approval_closed") return this.#reportAnswered(await this.#host.approvals.get(id));
      if (thrown.code !== "invalid_input" && thrown.code !== "invalid_agent") throw thrown;
      process.stderr.write(`capstan: ${escapeHidden(thrown.message)}\n`);
      return false;
    }
  }

  async #reportAnswered({ id, answer }: Approval): Promise<true> {
    const how =
      answer === null
        ? "is closed: its turn ended, or it expired"
        : `was ${answer.behavior === "allow" ? "allowed" : "denied"} by ${escapeHidden(answer.by)} in the meantime`;
    if (this.#screen === undefined) return true;
    const { wrapText } = await import("../terminal/text.ts");
    for (const line of wrapText(`(Approval ${shortId(id)} ${how}.)`, columns()))
      process.stdout.write(`${color.dim(line)}\n`);
    return true;
  }
}

const NOT_BY_YES = "Denied: --yes does not allow changes to configuration. Run without --yes to be asked.";

interface TerminalOptions {
  readonly host: Remembering;
  readonly escapeEnds: boolean;
}

function answersFor({ yes, deny, json }: AskFlags, options: TerminalOptions): Answers | undefined {
  if (yes === true && deny === true) throw usageError("--yes and --deny cannot be combined. Use one of them.");
  if (yes === true)
    return {
      by: "--yes",
      // --yes provides no answer to a question, and no result of a custom tool.
      give: async ({ request: { kind, asked_by: askedBy } }) => {
        if (kind === "question" || kind === "custom_tool") return "later";
        return isAboutConfiguration(askedBy) ? { behavior: "deny", message: NOT_BY_YES } : { behavior: "allow" };
      },
    };
  if (deny === true)
    return {
      by: "--deny",
      give: async () => ({ behavior: "deny", message: "Denied: this run was started with --deny." }),
    };
  if (json === true || !process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  return { by: userName(), give: (approval, signal) => atTerminal(approval, { signal, ...options }) };
}

async function atTerminal(
  approval: Approval,
  { signal, host, escapeEnds }: TerminalOptions & { readonly signal: AbortSignal },
): Promise<GivenAnswer> {
  // An agent's command can open its own terminal. The approval stays pending for a person.
  if (await isAgent()) return "later";
  const prompts = await openPrompts(signal, { escapeEnds });
  if (approval.request.kind === "question") {
    const { askQuestions } = await import("./ask-questions.ts");
    return askQuestions(approval, prompts);
  }
  if (approval.request.kind === "custom_tool") {
    const { askForResult } = await import("./ask-result.ts");
    return askForResult(approval, prompts);
  }
  const { askAboutCall } = await import("./ask-tool.ts");
  return askAboutCall(approval, prompts, host);
}
