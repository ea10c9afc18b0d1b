import type { Context, MiddlewareHandler } from "hono";
import type { z } from "zod";
import { messageOf } from "../../core/errors.ts";
import { invalid, parseRequest } from "../../protocol/v1/refusal.ts";
import type { Env } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";
import { BodyBudget, type BodyShare } from "./budget.ts";
import { type BodyLimits, jsonLimits } from "./limits.ts";
import { JsonScan, MAX_DEPTH } from "./scan.ts";
import { BodyQueue } from "./body-queue.ts";

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
/** In bytes: the initial buffer. It doubles, so that many small chunks cost no more than a few large ones. */
const FIRST_ROOM = 4_096;

/** Reads a request's body, on demand: a route checks the role first. */
export interface BodyReader {
  readonly limits: BodyLimits;
  readonly share: BodyShare;
  /** Resolves when this body may be parsed, or the rest of a refused one may be drained. */
  readonly turn: () => Promise<void>;
}

/** Gives every request its share of the memory for bodies. */
export function bodyReaders(limits: BodyLimits, budget: BodyBudget = new BodyBudget(limits)): MiddlewareHandler<Env> {
  const turns = new BodyQueue();
  return async (c, next) => {
    const caller = c.get("caller") as Env["Variables"]["caller"] | undefined;
    const key = caller?.id ?? "";
    using share = budget.share(key);
    c.set("body", { limits, share, turn: () => turns.take(key) });
    await next();
  };
}

/** Reads and validates the body; an empty body counts as `{}`. Unknown fields are errors. */
export async function readBody<Schema extends z.ZodType>(c: Context<Env>, schema: Schema): Promise<z.output<Schema>> {
  const { bytes: max, values } = jsonLimits(c.req.path, c.get("body").limits);
  const type = c.req.header("content-type");
  const scan = new JsonScan(values);
  const bytes = await readBytes(c, max, (piece) => {
    if (!JSON_TYPE.test(type ?? ""))
      throw invalid(`The body must be JSON, with content-type: application/json (found ${type ?? "none"}).`);
    requireLittle(scan.add(piece), values);
  });
  if (bytes.length > 0) await c.get("body").turn();
  return parseRequest("the body", schema, bytes.length === 0 ? {} : parseJson(bytes));
}

/** Reads the fields of a submitted form. */
export async function readForm(c: Context<Env>): Promise<URLSearchParams> {
  const bytes = await readBytes(c, c.get("body").limits.stranger);
  const isForm = FORM_TYPE.test(c.req.header("content-type") ?? "");
  return new URLSearchParams(isForm ? bytes.toString("utf8") : "");
}

/** Streams the body, for a route that keeps none of it in memory. */
export function readUpload(c: Context<Env>): ReadableStream<Uint8Array> | undefined {
  const { body } = c.req.raw;
  if (body === null) return undefined;
  const { limits, share } = c.get("body");
  share.open();
  return ReadableStream.from(pieces(c, body, { max: limits.upload, isUpload: true, waitMs: () => limits.pieceMs }));
}

function requireLittle(excess: ReturnType<JsonScan["add"]>, maxValues: number): void {
  if (excess === "depth") throw invalid(`The body has more than ${MAX_DEPTH} nested lists and objects. Flatten it.`);
  if (excess === "values") throw invalid(`The body has more than ${maxValues} values. Split it into several requests.`);
}

function parseJson(bytes: Buffer): unknown {
  const text = new TextDecoder().decode(bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch (thrown) {
    throw invalid(`The body is not valid JSON: ${messageOf(thrown)}. Fix it there.`);
  }
}

/**
 * `look` sees every chunk as it arrives and throws to reject the body. The rest is still read: a client that is cut off
 * while it writes would not see the answer.
 */
async function readBytes(c: Context<Env>, max: number, look: (piece: Uint8Array) => void = () => {}): Promise<Buffer> {
  const { body } = c.req.raw;
  if (body === null) return Buffer.alloc(0);
  const { limits, share, turn } = c.get("body");
  share.open();
  const until = performance.now() + limits.wholeMs;
  const waitMs = (): number => until - performance.now();
  let room = Buffer.allocUnsafe(FIRST_ROOM);
  let length = 0;
  let refusal: Error | undefined;
  for await (const piece of pieces(c, body, { max, isUpload: false, waitMs })) {
    refusal ??= refusalOf(() => look(piece));
    if (refusal !== undefined) {
      // Draining the rest is not urgent.
      await turn();
      continue;
    }
    share.add(piece.byteLength);
    if (length + piece.byteLength > room.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * room.length, length + piece.byteLength));
      room.copy(larger, 0, 0, length);
      room = larger;
    }
    room.set(piece, length);
    length += piece.byteLength;
  }
  if (refusal !== undefined) throw refusal;
  return room.subarray(0, length);
}

function refusalOf(look: () => void): Error | undefined {
  try {
    look();
    return undefined;
  } catch (thrown) {
    return thrown as Error;
  }
}

interface PieceLimits {
  /** In bytes, for all chunks together. */
  readonly max: number;
  readonly isUpload: boolean;
  /** In milliseconds: how long the next chunk may take. */
  readonly waitMs: () => number;
}

async function* pieces(
  c: Context<Env>,
  body: ReadableStream<Uint8Array>,
  { max, isUpload, waitMs }: PieceLimits,
): AsyncGenerator<Uint8Array> {
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding !== "identity")
    throw new ApiFailure(
      "invalid_request_error",
      `This server does not decompress requests (content-encoding: ${encoding.slice(0, 40)}). Send the body uncompressed.`,
      { status: 415 },
    );
  if (Number(c.req.header("content-length") ?? 0) > max) throw tooLarge(max, isUpload);
  const reader = body.getReader();
  let size = 0;
  try {
    for (;;) {
      const { value, done } = await inTime(reader.read(), waitMs());
      if (done) return;
      size += value.byteLength;
      if (size > max) throw tooLarge(max, isUpload);
      yield value;
    }
  } finally {
    // Not awaited: a client that sends nothing would block it.
    reader.cancel().catch(() => {});
  }
}

async function inTime<Read>(reading: Promise<Read>, ms: number): Promise<Read> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow()), Math.max(0, ms));
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): ApiFailure {
  return new ApiFailure("invalid_request_error", "The body did not arrive in time. Retry the request.", {
    status: 408,
  });
}

function tooLarge(max: number, isUpload: boolean): ApiFailure {
  const next = isUpload ? "Upload it in parts." : "Upload large content with POST /v1/files and refer to the file.";
  return new ApiFailure("request_too_large", `The body of this request may have at most ${max} bytes. ${next}`);
}
