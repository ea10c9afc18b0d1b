import { userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { isAboutConfiguration } from "../../core/permission/protected/in-call.ts";
import type { Approval, ApprovalAnswer, AskPermission } from "../../core/session/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import { type AskingHost, watchApproval } from "./ask-watch.ts";
import { Gone, NO_TERMINAL, openPrompts } from "./ask-prompts.ts";
import { onAbort } from "../../core/text/on-abort.ts";
import type { Given, Remembering } from "./ask-tool.ts";
import { usage } from "../terminal/failure.ts";
import { colour, columns, shortId } from "../terminal/text.ts";
import { isAgent } from "../terminal/person.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

export interface AskFlags {
  readonly yes?: boolean;
  readonly deny?: boolean;
  readonly json?: boolean;
}

/** Whoever prints while a question is on the screen must wait. */
export interface Screen {
  /** Resolves when the screen and the keyboard are free. */
  hold(): void | Promise<void>;
  release(): void;
}

/** Who answers here: a flag for everybody, or the person at the terminal. Undefined: nobody. */
interface Answers {
  readonly by: string;
  give(approval: Approval, signal: AbortSignal): Promise<Given>;
}

/** How long a question waits for what was said before it to be printed. */
const CATCH_UP_MS = 500;

/** Puts the approvals of a command's sessions to whoever answers here, one after another. */
export class Asking {
  readonly #host: AskingHost;
  readonly #answers: Answers | undefined;
  readonly #seen = new Map<string, PromiseWithResolvers<void>>();
  /** Left open on purpose, not to be asked about again in this run. */
  readonly #left = new Set<string>();
  /** Being asked about, or answered. */
  readonly #asked = new Map<string, Promise<boolean>>();
  #screen: Screen | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  /** Questions that are on the screen or wait for it. */
  #open = 0;
  /** Aborts when the terminal is gone. */
  readonly #gone = new AbortController();

  /** `escapeEnds`: Escape at a question ends the turn, as Ctrl-C does. */
  constructor(host: AskingHost, flags: AskFlags, { escapeEnds = false }: { readonly escapeEnds?: boolean } = {}) {
    this.#host = host;
    this.#answers = answersFor(flags, { host, escapeEnds });
  }

  /** Whether somebody answers here. */
  get isAttended(): boolean {
    return this.#answers !== undefined;
  }

  /** The screen on which a session is followed. */
  attach(screen: Screen | undefined): void {
    this.#screen = screen;
  }

  /**
   * The terminal is gone, which answers nothing: what was being asked stays open, and the session waits. False when
   * nothing was being asked.
   */
  leave(): boolean {
    this.#gone.abort(NO_TERMINAL);
    return this.#open > 0;
  }

  /** To be called when the question itself has come by on the screen. */
  seen(approvalId: string): void {
    this.#sight(approvalId).resolve();
  }

  /**
   * Answers through the inbox and not through its own return, so that the log tells that the answer came from the
   * command line, and a mistake in it is asked about again instead of denied.
   */
  readonly handler: AskPermission = async ({ approvalId, signal }) => {
    if (this.#answers === undefined) return undefined;
    const aborted = new Promise<void>((done) => void onAbort(signal, done));
    await Promise.race([this.#sight(approvalId).promise, sleep(CATCH_UP_MS), aborted]);
    if (this.#left.has(approvalId)) return undefined;
    if (await this.#inTurn(approvalId, signal)) await aborted;
    return undefined;
  };

  /** What was left open is asked about again. */
  askAgain(): void {
    this.#left.clear();
  }

  /** Asks about what was left open before. True when something was answered. */
  async askPending(sessionId: string, signal: AbortSignal): Promise<boolean> {
    if (this.#answers === undefined) return false;
    let answered = false;
    for (const { id } of await this.#host.approvals.list({ sessionId, status: "pending" })) {
      if (this.#left.has(id) || signal.aborted) continue;
      using watch = watchApproval(this.#host, id, signal);
      if (await this.#inTurn(id, watch.signal)) answered = true;
    }
    return answered;
  }

  #sight(approvalId: string): PromiseWithResolvers<void> {
    const known = this.#seen.get(approvalId) ?? Promise.withResolvers<void>();
    this.#seen.set(approvalId, known);
    return known;
  }

  /** The session and this command may both come upon what was left open; it is asked about once. */
  #inTurn(approvalId: string, signal: AbortSignal): Promise<boolean> {
    const known = this.#asked.get(approvalId);
    if (known !== undefined) return known;
    this.#open += 1;
    const either = AbortSignal.any([signal, this.#gone.signal]);
    const asked = this.#queue.then(() => this.#ask(approvalId, either)).finally(() => (this.#open -= 1));
    this.#asked.set(approvalId, asked);
    this.#queue = asked.catch(() => false).then((isAnswered) => isAnswered || this.#asked.delete(approvalId));
    return asked;
  }

  /** Whether it is answered, here or elsewhere. */
  async #ask(approvalId: string, signal: AbortSignal): Promise<boolean> {
    const answers = this.#answers;
    if (answers === undefined) return false;
    await this.#screen?.hold();
    try {
      for (;;) {
        const approval = await this.#host.approvals.get(approvalId);
        if (approval.status !== "pending") return this.#sayAnswered(approval);
        const given = await answers.give(approval, signal);
        if (typeof given !== "string") {
          if (await this.#store(approval, given, answers.by)) return true;
          continue;
        }
        this.#left.add(approvalId);
        if (given === "later") return false;
        // As the key does where no prompt takes it. The end of the turn settles the approval.
        process.kill(process.pid, "SIGINT");
        return true;
      }
    } catch (thrown) {
      if (!(thrown instanceof Gone)) throw thrown;
      const approval = await this.#host.approvals.get(approvalId);
      if (approval.status !== "pending") return this.#sayAnswered(approval);
      this.#left.add(approvalId);
      return false;
    } finally {
      this.#screen?.release();
    }
  }

  /** False when there is something wrong with the answer, which is said. */
  async #store({ id }: Approval, answer: ApprovalAnswer, by: string): Promise<boolean> {
    try {
      await this.#host.approvals.answer(id, answer, { by, from: "cli" });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof CapstanError)) throw thrown;
      if (thrown.code === "approval_closed") return this.#sayAnswered(await this.#host.approvals.get(id));
      if (thrown.code !== "invalid_input" && thrown.code !== "invalid_agent") throw thrown;
      process.stderr.write(`capstan: ${escapeHidden(thrown.message)}\n`);
      return false;
    }
  }

  async #sayAnswered({ id, answer }: Approval): Promise<true> {
    const how =
      answer === null
        ? "is no longer open: its turn has ended, or it has expired"
        : `was ${answer.behavior === "allow" ? "allowed" : "denied"} by ${escapeHidden(answer.by)} meanwhile`;
    if (this.#screen === undefined) return true;
    const { wrapped } = await import("../terminal/text.ts");
    for (const line of wrapped(`(The approval ${shortId(id)} ${how}.)`, columns()))
      process.stdout.write(`${colour.dim(line)}\n`);
    return true;
  }
}

const NOT_BY_YES = "Denied: --yes does not allow changes to configuration. Run without --yes to be asked.";

interface TerminalOptions {
  readonly host: Remembering;
  readonly escapeEnds: boolean;
}

function answersFor({ yes, deny, json }: AskFlags, options: TerminalOptions): Answers | undefined {
  if (yes === true && deny === true) throw usage("--yes and --deny exclude each other. Give one of them.");
  if (yes === true)
    return {
      by: "--yes",
      // A question needs an answer, and a custom tool a result, that nobody has given.
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
): Promise<Given> {
  // An agent's command can make a terminal of its own. What is asked stays open for a person.
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

/** Who sits here, as far as the system knows; a user without an entry has only a number. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "?"}`;
  }
}
