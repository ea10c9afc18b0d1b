import type { Context, MiddlewareHandler } from "hono";
import type { z } from "zod";
import { messageOf } from "../core/errors.ts";
import { invalid, parseRequest } from "../protocol/refusal.ts";
import type { Env, ServerSettings } from "./context.ts";
import { ApiFailure } from "./failure.ts";
import { jsonProblem } from "./json-position.ts";

/** In bytes: what a form puts around a file. */
const FORM_OVERHEAD = 1_048_576;
/** In bytes: what somebody may send whom nobody knows. */
const STRANGERS_BODY = 16_384;
const FORM_TYPE = /^multipart\/form-data\s*;/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Refuses bodies that are too large, whether or not they say so beforehand. `isOpen`: no key is asked for. */
export function bodyLimit(
  { maxBodyBytes, maxUploadBytes }: Pick<ServerSettings, "maxBodyBytes" | "maxUploadBytes">,
  isOpen: (c: Context<Env>) => boolean,
): MiddlewareHandler<Env> {
  return async (c, next) => {
    const isForm = FORM_TYPE.test(c.req.header("content-type") ?? "");
    const isUpload = isForm && c.req.method === "POST" && /^\/v1\/files\/?$/.test(c.req.path);
    const known = isUpload ? maxUploadBytes + FORM_OVERHEAD : maxBodyBytes;
    const max = isOpen(c) ? STRANGERS_BODY : known;
    const said = c.req.header("content-length");
    const isChunked = c.req.header("transfer-encoding") !== undefined;
    if (said !== undefined && Number(said) > max) throw tooLarge(max, isUpload);
    // Node itself ends a body where its length was said. Any other is counted while it is read.
    const { method } = c.req;
    if ((said === undefined || isChunked) && method !== "GET" && method !== "HEAD") {
      const { body } = c.req.raw;
      if (body !== null)
        c.req.raw = new Request(c.req.raw, { method, body: counted(body, max, isUpload), duplex: "half" });
    }
    await next();
  };
}

function counted(body: ReadableStream<Uint8Array>, max: number, isUpload: boolean): ReadableStream<Uint8Array> {
  let size = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        size += chunk.byteLength;
        if (size > max) controller.error(tooLarge(max, isUpload));
        else controller.enqueue(chunk);
      },
    }),
  );
}

function tooLarge(max: number, isUpload: boolean): ApiFailure {
  const next = isUpload ? "Upload it in parts." : "Upload large content with POST /v1/files and name the file.";
  return new ApiFailure("request_too_large", `The body of a request may have ${max} bytes here. ${next}`);
}

/** What is written deeper than anything needs makes whoever walks through it run out of stack. */
const MAX_DEPTH = 200;

/** Refuses a body that says it is JSON and is not, and says where; `readBody` finds it parsed already. */
export const jsonBody: MiddlewareHandler<Env> = async (c, next) => {
  if (JSON_TYPE.test(c.req.header("content-type") ?? "")) {
    const text = await c.req.text();
    try {
      c.set("body", text === "" ? {} : JSON.parse(text));
    } catch (thrown) {
      throw new ApiFailure(
        "invalid_request_error",
        `The body is not JSON: ${problemIn(text, thrown)}. Correct it there.`,
      );
    }
    if (isDeeperThan(MAX_DEPTH, text))
      throw new ApiFailure(
        "invalid_request_error",
        `The body has more than ${MAX_DEPTH} lists and objects inside each other. Write it flatter.`,
      );
  }
  await next();
};

/** What a client sent, checked; nothing at all counts as `{}`. Fields that nobody knows are errors: none is ignored in silence. */
export async function readBody<Schema extends z.ZodType>(c: Context<Env>, schema: Schema): Promise<z.output<Schema>> {
  const body = c.get("body");
  if (body === undefined && (await c.req.text()) !== "")
    throw invalid(
      `The body must be JSON, with content-type: application/json (found ${c.req.header("content-type") ?? "none"}).`,
    );
  return parseRequest("the body", schema, body === undefined ? {} : body);
}

/** Of a text that is JSON. */
function isDeeperThan(max: number, text: string): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') inText = !inText;
    else if (inText) at += character === "\\" ? 1 : 0;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth > max) return true;
  }
  return false;
}

/** In characters. Whoever sends more is told what the engine tells: to look through it all would keep others waiting. */
const LOOKED_THROUGH = 1_000_000;

function problemIn(text: string, thrown: unknown): string {
  if (text.length > LOOKED_THROUGH) return messageOf(thrown);
  const { line, column, expected } = jsonProblem(text);
  return `line ${line}, column ${column} must be ${expected}`;
}
