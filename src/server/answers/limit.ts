import type { ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "../http/context.ts";
import type { WaitingAnswers } from "./waiting.ts";

/**
 * Counts the bytes that wait for the client of each request, refuses requests above the limit, and closes connections
 * that are not being read. Data streamed from a file or a log waits at its source; only what was already read counts.
 */
export function limitAnswers(answers: WaitingAnswers): MiddlewareHandler<Env> {
  return async (c, next) => {
    const key = keyOf(c);
    c.set("answers", { all: answers, key });
    answers.requireRoom(key);
    const { outgoing } = c.env ?? {};
    if (outgoing === undefined) return next();
    const forget = answers.add(key, () => outgoing.writableLength);
    outgoing.once("close", forget);
    closeWhenStalled(outgoing, answers, (bytes) => logClosed(c, bytes));
    await next();
    // Many requests may have arrived before any of them was answered.
    try {
      answers.requireRoom(key);
    } catch (thrown) {
      await c.res.body?.cancel();
      throw thrown;
    }
  };
}

/** Whom the answer is for: a key, or an address if there is no key. */
function keyOf(c: Context<Env>): string {
  const caller = c.get("caller") as Env["Variables"]["caller"] | undefined;
  return caller?.id ?? `address ${c.env?.incoming?.socket.remoteAddress ?? ""}`;
}

/** Node's connection timer restarts whenever the client reads part of what waits. */
function closeWhenStalled(response: ServerResponse, answers: WaitingAnswers, onClose: (bytes: number) => void): void {
  response.setTimeout(answers.limits.stallMs, () => {
    const bytes = response.writableLength;
    // Nothing waits: the client is waiting for the server.
    if (bytes === 0) return;
    answers.closedOne();
    onClose(bytes);
    response.destroy();
  });
}

function logClosed(c: Context<Env>, bytes: number): void {
  const log = c.get("log");
  const { method, path } = c.req;
  const caller = (c.get("caller") as Env["Variables"]["caller"] | undefined)?.id;
  const fields = { id: c.get("requestId"), method, path, caller, bytes };
  log?.warn(fields, "closed a connection: the client did not read the response");
}
