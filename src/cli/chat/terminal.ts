import { setTimeout as sleep } from "node:timers/promises";
import type { MessageContent } from "../../core/events/content.ts";
import { expandCommand } from "../../core/agent/slash-commands.ts";
import { PromptAborted, openPrompts } from "../ask/ask-prompts.ts";
import { color, oneLine } from "../terminal/text.ts";
import { Attachments } from "./attachments.ts";
import type { Chat, ChatUi } from "./chat.ts";
import type { Room } from "./commands/command.ts";
import { completeInput, hintsFor, resolveInput } from "./commands/commands.ts";
import { Editor } from "./editor/editor.ts";
import type { CursorLines } from "./editor/editor-view.ts";
import type { History } from "./editor/history.ts";
import type { Key } from "./editor/key.ts";
import { Keyboard } from "./editor/keyboard.ts";
import { liveRegion, type Size } from "./view/layout.ts";
import { Screen } from "./view/screen.ts";
import { SPIN_MS, spinner } from "./view/spinner.ts";
import { statusLine } from "./view/status.ts";

/** A question waits for this pause in typing, so that an Enter meant for the input does not answer it. */
const QUIET_MS = 1_000;
/** A second Ctrl-C within this time quits. */
const TWICE_MS = 2_000;

/** A chat at a terminal. */
export class TerminalChat implements ChatUi, Disposable {
  readonly isPlain = false;
  readonly #screen: Screen;
  readonly #keyboard: Keyboard;
  readonly #history: History;
  readonly #attachments = new Attachments();
  readonly #editor: Editor;
  #chat: Chat | undefined;
  #progress = "";
  #lastKeyAt = -Infinity;
  #quitAskedAt = -Infinity;
  #isQuestionWaiting = false;
  #spinning: NodeJS.Timeout | undefined;
  /** Inputs are processed one after another, because a command may ask a question. */
  #inputs: Promise<void> = Promise.resolve();
  readonly #over = Promise.withResolvers<void>();
  readonly #leaving = new AbortController();
  /** A prompt uses the terminal until this resolves. */
  #taken: PromiseWithResolvers<void> | undefined;
  readonly #onResize = (): void => this.#screen.redrawAfterResize();

  constructor(history: History) {
    this.#history = history;
    this.#editor = new Editor(history, { onPaste: this.#attachments.replacePaths });
    this.#screen = new Screen(process.stdout, (size) => this.#live(size));
    this.#keyboard = new Keyboard(process.stdin, process.stdout, (key) => this.#press(key));
    process.stdout.on("resize", this.#onResize);
  }

  readonly width = (): number => this.#screen.size.width;

  print(lines: readonly string[]): void {
    this.#screen.print(lines);
  }

  redraw(): void {
    this.#spin();
    this.#screen.redraw();
  }

  progress(text: string): void {
    if (text === this.#progress) return;
    this.#progress = text;
    this.#screen.redraw();
  }

  /** Resolves when the person quits, or `quit` is called. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Opens the chat on the terminal. */
  show(chat: Chat): void {
    this.#chat = chat;
    this.release();
  }

  quit(): void {
    this.#leaving.abort();
    this.#over.resolve();
  }

  /** Hands the terminal to a question once the person stops typing. */
  async hold(): Promise<void> {
    this.#isQuestionWaiting = true;
    for (;;) {
      const wait = this.#lastKeyAt + QUIET_MS - performance.now();
      if (wait <= 0) break;
      this.redraw();
      await sleep(wait);
    }
    this.#isQuestionWaiting = false;
    await this.#take();
  }

  release(): void {
    if (this.#taken !== undefined) this.#chat?.page.markQuestion();
    this.#taken?.resolve();
    this.#taken = undefined;
    if (this.#leaving.signal.aborted) return;
    this.#keyboard.release();
    this.#screen.release();
    this.#spin();
  }

  [Symbol.dispose](): void {
    this.#stop();
    process.stdout.off("resize", this.#onResize);
    this.#keyboard[Symbol.dispose]();
  }

  /** One prompt at a time: an agent's question waits while a command asks something. */
  async #take(): Promise<void> {
    while (this.#taken !== undefined) await this.#taken.promise;
    this.#taken = Promise.withResolvers();
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#spinning);
    this.#spinning = undefined;
    this.#screen.hold();
    this.#keyboard.hold();
  }

  /** What a chat command may do. */
  #room(chat: Chat): Room {
    return {
      chat,
      choose: (message, choices) =>
        this.#aside(async () => {
          const prompts = await openPrompts(this.#leaving.signal);
          return prompts.choose(message, choices).catch((thrown: unknown) => {
            if (thrown instanceof PromptAborted) return undefined;
            throw thrown;
          });
        }),
      clear: () => this.#screen.clear(),
      quit: () => this.quit(),
    };
  }

  async #aside<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#take();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  #press(key: Key): void {
    const chat = this.#chat;
    if (chat === undefined) return;
    this.#lastKeyAt = performance.now();
    if (!this.#control(chat, key)) {
      const pressed = this.#editor.press(key);
      if (pressed === "submitted") this.#submit(chat);
      // Starts the session while the first message is being typed.
      else if (pressed === "edited" && /^[^/\s]/.test(this.#editor.text)) chat.prepare();
    }
    this.#screen.redrawForKey();
  }

  /** Handles keys that control the chat. Returns false for all others. */
  #control(chat: Chat, { name, ctrl }: Key): boolean {
    if (name === "escape") void chat.interrupt().catch((thrown: unknown) => chat.report(thrown));
    else if (ctrl && name === "c") this.#clearOrQuit();
    else if (ctrl && name === "d" && this.#editor.text === "") this.quit();
    else if (ctrl && name === "o") chat.view.unfold();
    else if (ctrl && name === "l") this.#screen.redrawAfterResize();
    else if (name === "tab") this.#complete(chat);
    else return false;
    return true;
  }

  #clearOrQuit(): void {
    const isSecond = performance.now() - this.#quitAskedAt < TWICE_MS;
    if (this.#editor.text === "" && isSecond) return this.quit();
    if (this.#editor.text === "") {
      this.#quitAskedAt = performance.now();
      setTimeout(() => this.#screen.redraw(), TWICE_MS).unref();
    }
    this.#editor.clear();
    this.#attachments.clear();
  }

  #complete(chat: Chat): void {
    const text = completeInput(chat, this.#editor.text);
    if (text !== undefined) this.#editor.set(text);
  }

  #submit(chat: Chat): void {
    const { text } = this.#editor;
    if (text.trim() === "") return;
    this.#history.add(text);
    this.#editor.clear();
    this.#inputs = this.#inputs
      .then(() => this.#say(chat, text))
      .catch((thrown: unknown) => chat.report(thrown))
      .finally(() => this.redraw());
  }

  async #say(chat: Chat, text: string): Promise<void> {
    const message = await resolveInput(this.#room(chat), text);
    if (message === undefined) return;
    try {
      await chat.say(this.#content(chat, message));
      this.#attachments.clear();
    } catch (thrown) {
      // Keeps the text of a message that could not be sent.
      if (this.#editor.text === "") this.#editor.set(text);
      throw thrown;
    }
  }

  /** Sessions expand commands only in plain text, so a command with an image is expanded here. */
  #content({ agent }: Chat, message: string): string | MessageContent {
    const content = this.#attachments.content(message);
    const expanded = typeof content === "string" ? undefined : expandCommand(agent ?? {}, message);
    return expanded === undefined ? content : this.#attachments.content(expanded);
  }

  #live(size: Size): CursorLines {
    const chat = this.#chat;
    chat?.view.settle();
    const { width } = size;
    const now = Date.now();
    const tail = chat?.view.tail(width) ?? [];
    return liveRegion(
      {
        tail,
        calls: chat?.view.work({ width, now, mark: color.yellow(spinner(now)), isTalking: tail.length > 0 }) ?? [],
        queued: chat?.view.queuedLines(width) ?? [],
        hints: chat === undefined ? [] : this.#hints(chat, width),
        editor: this.#editor,
        status: chat === undefined ? "" : statusLine(statusOf(chat), width),
      },
      size,
    );
  }

  #hints(chat: Chat, width: number): string[] {
    const line = (text: string): string => `  ${color.dim(oneLine(text, Math.max(1, width - 3)))}`;
    if (this.#progress !== "") return [line(this.#progress)];
    if (this.#isQuestionWaiting) return [line("The agent has a question. It appears when you stop typing.")];
    if (performance.now() - this.#quitAskedAt < TWICE_MS)
      return [line(chat.isInTurn ? "Ctrl-C again to quit; Esc to interrupt." : "Ctrl-C again to quit.")];
    return hintsFor(chat, this.#editor.text, width);
  }

  /** Animates the screen only during a turn. */
  #spin(): void {
    const isBusy = this.#chat?.isInTurn === true;
    if (!isBusy) {
      clearInterval(this.#spinning);
      this.#spinning = undefined;
    } else if (this.#spinning === undefined) {
      this.#spinning = setInterval(() => this.#screen.redraw(), SPIN_MS);
    }
  }
}

function statusOf(chat: Chat): Parameters<typeof statusLine>[0] {
  const { model, engine, mode, maxUsd, session, view, host } = chat;
  return { sessionId: session?.id, model, engine, mode, maxUsd, meter: view.meter, isRehearsal: host.isRehearsal };
}
