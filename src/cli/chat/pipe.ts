import { createInterface } from "node:readline";
import type { StopReason } from "../../core/events/events.ts";
import { isOpen, waitingText } from "../terminal/short-id.ts";
import { reportFailure } from "../terminal/failure.ts";
import type { Chat, ChatUi } from "./chat.ts";
import type { Room } from "./commands/command.ts";
import { resolveInput } from "./commands/commands.ts";

const CODES: Readonly<Record<StopReason["type"], number>> = {
  end_turn: 0,
  refusal: 1,
  retries_exhausted: 1,
  budget_reached: 4,
  requires_action: 5,
};

/** A chat without a terminal: reads one message per line, prints plain text. */
export class PipeChat implements ChatUi {
  readonly isPlain = true;
  readonly width = (): number => Infinity;
  #isOver = false;
  #isInterrupted = false;

  print(lines: readonly string[]): void {
    if (process.stdout.errored === null) process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  }

  redraw(): void {}

  progress(): void {}

  /** Reads until the input ends or a turn does not succeed. Returns the exit code. */
  async run(chat: Chat, flags: { readonly rehearsal?: boolean }): Promise<number> {
    for await (const text of messagesIn(process.stdin)) {
      if (this.#isOver) break;
      const code = await this.#take(chat, text, flags);
      if (code !== 0) return code;
    }
    return 0;
  }

  /** Interrupts the current turn and stops reading. */
  stop(chat: Chat | undefined): void {
    this.#isInterrupted = true;
    void chat?.interrupt().catch(() => {});
    this.#end();
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  #end(): void {
    this.#isOver = true;
    process.stdin.destroy();
  }

  async #take(chat: Chat, text: string, { rehearsal }: { readonly rehearsal?: boolean }): Promise<number> {
    const over = Promise.withResolvers<StopReason>();
    chat.onIdle = over.resolve;
    try {
      const message = await resolveInput(this.#room(chat), text);
      if (message !== undefined) await chat.say(message);
      // A command may have started a turn. A turn that waits for a person does not end soon.
      else if (!chat.isInTurn || chat.isWaiting) return 0;
    } catch (thrown) {
      return reportFailure(thrown);
    }
    const { type } = await over.promise;
    if (type === "requires_action") await reportWaiting(chat, rehearsal === true);
    return CODES[type];
  }

  #room(chat: Chat): Room {
    return {
      chat,
      // There is nobody to choose.
      async choose(message, choices, how) {
        const rows = choices.map(({ label, hint }) => `  ${label}${hint === undefined ? "" : ` (${hint})`}`);
        chat.page.lines([message, ...rows, `Choose one with: ${how}`]);
        return undefined;
      },
      clear: () => {},
      quit: () => this.#end(),
    };
  }
}

async function reportWaiting({ host, session }: Chat, rehearsal: boolean): Promise<void> {
  if (session === undefined) return;
  const pending = await host.approvals.list({ sessionId: session.id, status: "pending" });
  process.stderr.write(`capstan: ${waitingText(session.id, pending.filter(isOpen), { rehearsal })}`);
}

/** One message per line; a trailing backslash continues it on the next line. Skips empty lines. */
export async function* messagesIn(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  let message = "";
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.endsWith("\\")) {
      message += `${line.slice(0, -1)}\n`;
      continue;
    }
    message += line;
    if (message.trim() !== "") yield message;
    message = "";
  }
  if (message.trim() !== "") yield message.trimEnd();
}
