import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Approval } from "../../../src/core/session/approval.ts";
import { FASTER } from "../cli.ts";
import { temporaryDirectory, testEnvironment } from "../host.ts";
import { type ScriptedModel, scriptedModel } from "../scripted-model.ts";
import { expectKeptPromises, type FallenBlow, tell } from "./approval-checks.ts";
import type { ApprovalHostReport, ApprovalHostTask, HostOrder } from "./approval-host.ts";
import { type Blow, describePlan, type Moment, type Plan } from "./approval-plan.ts";
import { approvalScript, effectOf } from "./approval-task.ts";
import { agentProcesses, Onlooker } from "./approval-watch.ts";
import { bundleProgram } from "./bundle.ts";
import { effectsIn, expectNothingLeft } from "./campaign.ts";
import type { CrashPoint } from "./crashing-store.ts";

const LOOK_EVERY_MS = 10;
/** A round takes a few seconds, and many on a machine that is busy with other things; one that takes this long hangs. */
const ROUND_MS = 150_000;

/** One session from its first message to its end, with a person who answers and somebody who kills. */
export class Round implements AsyncDisposable {
  readonly plan: Plan;
  readonly fallen: FallenBlow[] = [];
  readonly #place: Omit<ApprovalHostTask, "sessionId" | "hibernateAfterMs" | "crash">;
  readonly #directory: string;
  readonly #model: ScriptedModel;
  readonly #onlooker: Onlooker;
  readonly #stack: AsyncDisposableStack;
  #host: ChildProcess | undefined;
  #appends = 0;
  /** What holds since the last blow: where the log stood, how much was answered and done. */
  #since = { head: 0, answered: 0, effects: 0 };
  readonly #answerable = new Map<string, number>();
  readonly #given = new Set<string>();
  #struckAt: number | undefined;
  readonly #until = Date.now() + ROUND_MS;

  private constructor(
    plan: Plan,
    parts: { stack: AsyncDisposableStack; directory: string; model: ScriptedModel; onlooker: Onlooker },
  ) {
    this.plan = plan;
    this.#stack = parts.stack;
    this.#directory = parts.directory;
    this.#model = parts.model;
    this.#onlooker = parts.onlooker;
    this.#place = {
      home: join(parts.directory, "home"),
      cwd: join(parts.directory, "work"),
      environment: testEnvironment(parts.model.url),
    };
  }

  static async open(plan: Plan): Promise<Round> {
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(temporaryDirectory()).path;
    for (const name of ["home", "work"]) mkdirSync(join(directory, name));
    const model = stack.use(await scriptedModel(approvalScript(plan.scenario)));
    const onlooker = stack.use(await Onlooker.open(join(directory, "home")));
    return new Round(plan, { stack: stack.move(), directory, model, onlooker });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killHost();
    await this.#stack.disposeAsync();
  }

  /** Starts a host that takes the session up where it stands. False when it died before it could say so. */
  async startHost(crash?: CrashPoint): Promise<boolean> {
    await this.#onlooker.look();
    const child = fork(await bundleProgram("approval-host.ts"), {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: { ...process.env, ...FASTER },
    });
    this.#host = child;
    child.on("message", (report: ApprovalHostReport) => {
      if (report.kind === "ended") this.#appends = report.appends;
    });
    const { hibernateAfterMs } = this.plan;
    const task: ApprovalHostTask = { ...this.#place, hibernateAfterMs, sessionId: this.#onlooker.sessionId, crash };
    child.send(task);
    await Promise.race([once(child, "message"), once(child, "exit")]);
    this.#mark();
    return isAlive(child);
  }

  async killHost(): Promise<void> {
    const child = this.#host;
    this.#host = undefined;
    this.#given.clear();
    if (child === undefined || !isAlive(child)) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  /** Lets things happen: answers what is due, strikes when it is time, until the agent is done or the host is dead. */
  async live(blow?: Blow): Promise<"finished" | "struck" | "dead"> {
    this.#struckAt = undefined;
    for (;;) {
      await this.#onlooker.look();
      if (this.#host === undefined || !isAlive(this.#host)) return "dead";
      if (this.#onlooker.isFinished) return "finished";
      if (blow !== undefined && this.#isTimeFor(blow)) {
        await this.#strike(blow);
        return "struck";
      }
      await this.#answerDue();
      if (Date.now() > this.#until) throw new Error("The round came to no end.");
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** The whole plan, then every promise. */
  async run(): Promise<void> {
    await this.telling(async () => {
      for (const blow of this.plan.blows) {
        if (this.#host === undefined) await this.startHost();
        if ((await this.live(blow)) === "finished") break;
        if (this.#host === undefined) await this.answerNow("no host");
      }
      await this.finish();
    });
  }

  /** A failure inside is told together with the log. */
  async telling<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const told = [describePlan(this.plan), tell(this.#onlooker.events, this.fallen)].join("\n");
      throw new Error(told, { cause: thrown });
    }
  }

  /** The host killed itself, or is killed now: a blow like any other. */
  async noteDeath(): Promise<void> {
    await this.killHost();
    await this.#onlooker.look();
    this.fallen.push({ what: "host", from: this.#onlooker.head, to: this.#onlooker.head, hit: true });
  }

  /** Brings the session to its end in a host that lives, sends one more message, and checks. */
  async finish(): Promise<void> {
    if (this.#host === undefined || !isAlive(this.#host)) await this.startHost();
    if ((await this.live()) !== "finished") throw new Error("The last host died by itself.");
    const worked = this.#onlooker.head;
    await this.#order({ kind: "say", text: "Tell me that you are there." });
    while (this.#onlooker.head === worked) await this.#pause();
    if ((await this.live()) !== "finished") throw new Error("The last host died by itself.");
    await this.endHost();
    await this.#onlooker.look();
    await expectNothingLeft(this.#directory);
    const { events, approvals, sessionId = "" } = this.#onlooker;
    const { home, cwd } = this.#place;
    await expectKeptPromises(
      { home, cwd, sessionId, events, approvals, lastRequest: this.#model.requests.at(-1) },
      { plan: this.plan, fallen: this.fallen },
    );
  }

  /** Resolves to the number of its appends. */
  async endHost(): Promise<number> {
    const child = this.#host;
    await this.#order({ kind: "end" });
    if (child !== undefined && isAlive(child)) await once(child, "exit");
    return this.#appends;
  }

  /** Somebody answers everything that may be answered now and was meant for this. */
  async answerNow(where: "no host" | "all"): Promise<void> {
    await this.#onlooker.look();
    for (const approval of this.#pending()) {
      const planned = this.#plannedAnswer(approval);
      if (where !== "all" && (planned.where !== where || planned.afterBlows > this.fallen.length)) continue;
      await this.#onlooker.answer(approval.id, { behavior: planned.behavior });
    }
  }

  async #pause(): Promise<void> {
    if (Date.now() > this.#until) throw new Error("The round came to no end.");
    await sleep(LOOK_EVERY_MS);
    await this.#onlooker.look();
  }

  #mark(): void {
    this.#since = { head: this.#onlooker.head, answered: this.#countAnswered(), effects: this.#effects() };
  }

  #effects(): number {
    return effectsIn(this.#place.cwd).length;
  }

  #countAnswered(): number {
    return this.#onlooker.approvals.filter(({ answer }) => answer !== null).length;
  }

  #pending(): readonly Approval[] {
    return this.#onlooker.approvals.filter(({ status }) => status === "pending");
  }

  #plannedAnswer({ request }: Approval): Plan["answers"][string] {
    const planned = this.plan.answers[effectOf(request.input) ?? ""];
    if (planned === undefined) throw new Error(`Nobody expected to be asked: ${request.title}`);
    return planned;
  }

  #isDue(approval: Approval): boolean {
    const { where, afterBlows } = this.#plannedAnswer(approval);
    const blowsLeft = this.plan.blows.slice(this.fallen.length);
    if (where === "no host" && blowsLeft.some(({ what }) => what === "host")) return false;
    return afterBlows <= this.fallen.length;
  }

  async #answerDue(): Promise<void> {
    for (const approval of this.#pending().filter((pending) => this.#isDue(pending))) {
      const { behavior, where, delayMs } = this.#plannedAnswer(approval);
      const from = this.#answerable.get(approval.id) ?? Date.now();
      this.#answerable.set(approval.id, from);
      if (Date.now() < from + delayMs || this.#given.has(approval.id)) continue;
      this.#given.add(approval.id);
      if (where === "host") await this.#order({ kind: "answer", approvalId: approval.id, answer: { behavior } });
      else await this.#onlooker.answer(approval.id, { behavior });
    }
  }

  #isTimeFor({ moment, delayMs }: Blow): boolean {
    if (this.#struckAt === undefined && (this.#hasCome(moment) || this.#nothingWillMove()))
      this.#struckAt = Date.now() + delayMs;
    return this.#struckAt !== undefined && Date.now() >= this.#struckAt;
  }

  #hasCome(moment: Moment): boolean {
    const happened = this.#onlooker.events.slice(this.#since.head);
    switch (moment) {
      case "start":
        return true;
      case "still":
        return this.#nothingWillMove();
      case "process":
        return happened.some(({ type }) => type === "capstan.process_started");
      case "asked":
        return this.#pending().length > 0;
      case "answered":
        return this.#countAnswered() > this.#since.answered;
      case "allowed":
        return happened.some((event) => event.type === "capstan.permission_decided" && event.decision === "allow");
      case "effect":
        return this.#effects() > this.#since.effects;
    }
  }

  #nothingWillMove(): boolean {
    const pending = this.#pending();
    return this.#onlooker.standsStill && pending.length > 0 && !pending.some((approval) => this.#isDue(approval));
  }

  async #strike({ what }: Blow): Promise<void> {
    const { head } = this.#onlooker;
    const victims = what === "engine" ? agentProcesses(this.#host?.pid ?? 0, this.#directory) : [];
    if (what === "host") await this.killHost();
    for (const pid of victims)
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended in the same moment.
      }
    await this.#onlooker.look();
    this.fallen.push({ what, from: head, to: this.#onlooker.head, hit: what === "host" || victims.length > 0 });
    this.#mark();
  }

  async #order(order: HostOrder): Promise<void> {
    const host = this.#host;
    if (host === undefined || !isAlive(host)) return;
    // The host may be dead before it reads this; then the order was never given.
    await new Promise<void>((resolve) => {
      host.send(order, () => resolve());
    });
  }
}

function isAlive({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
