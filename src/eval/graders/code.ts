import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { parseDuration } from "../../core/text/duration.ts";
import type { GraderParams } from "../../core/suite/grader-schema.ts";
import { type Finding, GraderError, type GraderContext } from "./grader.ts";
import { duration } from "../../words/amounts.ts";
import { shortJson } from "./similarity/words.ts";

const TIMEOUT = "30s";

const answer = z.union([
  z.boolean(),
  z.strictObject({
    passed: z.boolean(),
    score: z.number().min(0).max(1).optional(),
    message: z.string().optional(),
  }),
]);

/**
 * Runs a user's function on a separate thread: the only way to stop one that never returns, and `process.exit()` in it
 * ends nothing else. The thread has no environment variables, so no credentials.
 */
export async function gradeCode(given: GraderParams<"code">, { facts, deps }: GraderContext): Promise<Finding> {
  const file = resolve(dirname(facts.suiteFile), given.module);
  const ms = parseDuration(given.timeout ?? TIMEOUT);
  const late = AbortSignal.timeout(ms);
  const worker = new Worker(PROGRAM, {
    eval: true,
    env: {},
    stdout: true,
    stderr: true,
    workerData: { module: pathToFileURL(file).href, name: given.export, facts, options: given.options ?? {} },
  });
  try {
    const said = await answerOf(worker, AbortSignal.any([deps.signal, late]));
    if ("threw" in said) throw new GraderError(`${given.export} of ${file} threw: ${said.threw}`);
    return findingOf(said.returned, `${given.export} of ${file}`);
  } catch (thrown) {
    if (late.aborted) throw new GraderError(`${given.export} of ${file} did not answer within ${duration(ms)}`);
    throw thrown;
  } finally {
    await worker.terminate();
  }
}

function findingOf(returned: unknown, what: string): Finding {
  const parsed = answer.safeParse(returned);
  if (!parsed.success)
    throw new GraderError(
      `${what} returned ${shortJson(returned)}; expected true, false or { passed, score?, message? } with a score from 0 to 1`,
    );
  const finding = typeof parsed.data === "boolean" ? { passed: parsed.data } : parsed.data;
  return { message: `${what} says ${finding.passed ? "yes" : "no"}`, ...finding };
}

type Said = { readonly returned: unknown } | { readonly threw: string };

/** Inline, because a bundled package would have to locate a separate file. */
const PROGRAM = `
const { parentPort, workerData: { module, name, facts, options } } = require("node:worker_threads");
(async () => {
  const check = (await import(module))[name];
  if (typeof check !== "function") throw new Error("the module exports no function of this name");
  return check(facts, options);
})().then(
  (returned) => parentPort.postMessage({ returned }),
  (error) => parentPort.postMessage({ threw: String(error?.stack ?? error) }),
).catch((error) => parentPort.postMessage({ threw: String(error) }));
`;

function answerOf(worker: Worker, signal: AbortSignal): Promise<Said> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    worker.once("message", resolve);
    worker.once("error", (error) => resolve({ threw: String(error) }));
    worker.once("exit", () => resolve({ threw: "its thread ended before it answered" }));
    // Its output is ignored.
    worker.stdout.resume();
    worker.stderr.resume();
  });
}
