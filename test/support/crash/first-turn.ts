import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openHost } from "../../../src/app/open-host.ts";
import { FASTER } from "../cli.ts";
import { agent, eventsOf, ofType, temporaryDirectory, testEnvironment } from "../host.ts";
import { type ModelRequest, say, scriptedModel } from "../scripted-model.ts";
import { until } from "../until.ts";
import { bundleProgram } from "./bundle.ts";
import { expectNothingLeft } from "./campaign.ts";
import type { CrashPoint } from "./crashing-store.ts";
import type { HostReport, HostTask } from "./host-process.ts";

/** A moment of the first turn of a session: an append, or a model request that has arrived and gets no answer. */
export type Moment = CrashPoint | { readonly to: "model" };

/** What the host of host-process.ts sends first. */
const FIRST = "work";

/** Runs one turn in a host of its own, which dies at that moment. Of one that lives, how many appends it made. */
async function strike(task: Omit<HostTask, "crash">, moment: Moment | undefined, asked: Promise<unknown>) {
  const child = fork(await bundleProgram("host-process.ts"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    env: { ...process.env, ...FASTER },
  });
  const ended = once(child, "exit");
  let sessionId: string | undefined;
  let appends: Extract<HostReport, { kind: "done" }>["appends"] | undefined;
  child.on("message", (report: HostReport) => {
    if (report.kind === "started") ({ sessionId } = report);
    else ({ appends } = report);
  });
  child.send(moment !== undefined && "append" in moment ? { ...task, crash: moment } : task);
  if (moment?.to === "model") {
    await asked;
    child.kill("SIGKILL");
  }
  await ended;
  return { sessionId, appends };
}

async function inPlace<Result>(
  use: (place: Omit<HostTask, "crash">, model: Awaited<ReturnType<typeof scriptedModel>>) => Promise<Result>,
  script: Parameters<typeof scriptedModel>[0],
): Promise<Result> {
  using directory = temporaryDirectory();
  await using model = await scriptedModel(script);
  const cwd = join(directory.path, "work");
  mkdirSync(cwd);
  const environment = testEnvironment(model.url);
  return await use({ home: join(directory.path, "home"), cwd, environment, agent: agent() }, model);
}

/** The appends of a first turn that nobody disturbs. */
export function appendsOfFirstTurn(): Promise<Readonly<Record<"log" | "transcript", number>>> {
  return inPlace(
    async (task) => {
      const { appends } = await strike(task, undefined, Promise.resolve());
      expect(appends, "the turn was not disturbed").toBeDefined();
      return appends ?? { log: 0, transcript: 0 };
    },
    () => say("done"),
  );
}

/** Every request after the host's death holds the first message, once, when that was accepted. */
export async function expectFirstMessage(moment: Moment): Promise<void> {
  const asked = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const script: Parameters<typeof scriptedModel>[0] = () => {
    asked.resolve();
    return { ...say("fine"), ...(moment.to === "model" && { delay: gone.promise }) };
  };
  await inPlace(async (task, model) => {
    const { sessionId } = await strike(task, moment, asked.promise);
    gone.resolve();
    await expectNothingLeft(join(task.cwd, ".."));
    if (sessionId === undefined) return;
    const before = model.requests.length;
    await using host = await openHost({ home: task.home, environment: task.environment, retries: 1 });
    const session = await host.resumeSession(sessionId);
    await until(
      () => session.state,
      ({ status, undelivered }) => status === "idle" && undelivered.length === 0,
    );
    const accepted = ofType(await eventsOf(host, sessionId), "user.message").length > 0;
    await session.send("Are you there?").result();
    const later = model.requests.slice(before);
    expect(later.length).toBeGreaterThan(0);
    for (const request of later)
      expect(textsOf(request).filter((text) => text === FIRST)).toHaveLength(accepted ? 1 : 0);
    expect(textsOf(later.at(-1))).toContain("Are you there?");
  }, script);
}

/** The CLI ends a message with a new line when it continues after it. */
function textsOf(request: ModelRequest | undefined): string[] {
  return (request?.body.messages ?? []).flatMap(({ role, content }) => {
    if (role !== "user") return [];
    const texts = typeof content === "string" ? [content] : content.map((block) => String(block["text"]));
    return texts.map((text) => text.trim());
  });
}
