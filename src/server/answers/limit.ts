import type { ServerResponse } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import type { Env } from "../http/context.ts";
import type { WaitingAnswers } from "./waiting.ts";

/**
 * Counts what waits for the client of each request, refuses more when it is too much, and closes a connection that takes
 * nothing. What is streamed from a file or a log waits at its source, and only what was read from there counts.
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
    // Many may have been asked for at once, before any of them was there.
    try {
      answers.requireRoom(key);
    } catch (thrown) {
      await c.res.body?.cancel();
      throw thrown;
    }
  };
}

/** Who an answer is for: a key, or the address of someone without one. */
function keyOf(c: Context<Env>): string {
  const caller = c.get("caller") as Env["Variables"]["caller"] | undefined;
  return caller?.id ?? `address ${c.env?.incoming?.socket.remoteAddress ?? ""}`;
}

/** Node's own timer of a connection is put back whenever a part of what waits is taken. */
function closeWhenStalled(response: ServerResponse, answers: WaitingAnswers, onClose: (bytes: number) => void): void {
  response.setTimeout(answers.limits.stallMs, () => {
    const bytes = response.writableLength;
    // Otherwise it waits for the server, and not the other way round.
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
  log?.warn(fields, "closed a connection: the client did not read its answer");
}
