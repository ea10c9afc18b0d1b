import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import type { Role } from "../../core/ports/registry.ts";
import { queryFields } from "../../protocol/v1/queries.ts";
import { parseRequest } from "../../protocol/v1/refusal.ts";
import { readBody } from "../body/read.ts";
import { type Caller, type Env, requireRole } from "../http/context.ts";
import type { WorkLimits } from "../../core/ports/workspace.ts";
import type { HeavyCaller, HeavySlots } from "../heavy/slots.ts";
import { HEAVY_LIMITS, type HeavyLimits, withLimits } from "../heavy/heavy-limits.ts";
import { errorComponent } from "./document/components.ts";

export type Api = OpenAPIHono<Env>;
type Shape = z.ZodType;
type Nothing = undefined;
type Given<Schema extends Shape | Nothing> = Schema extends Shape ? z.output<Schema> : undefined;

/** One endpoint: its documentation, validation, required role and answer in one place. */
interface Endpoint<
  Query extends Shape | Nothing,
  Body extends Shape | Nothing,
  Answer extends Shape | string,
  Path extends string,
> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With names in braces, such as `/api/approvals/{id}`. */
  readonly path: Path;
  /** The lowest role that may call it. */
  readonly role: Role;
  readonly tag: string;
  /** A short title, and sentences with details. */
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  /** A schema for JSON, or the media type of bytes that the handler sends itself. */
  readonly answer: Answer;
  readonly status?: 200 | 201 | 202;
  /** Expensive: runs one at a time for each key, a few at once overall, and within limits. */
  readonly heavy?: Heavy;
}

export interface Heavy {
  readonly slots: HeavySlots;
  readonly limits?: HeavyLimits | undefined;
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

export interface EndpointRequest<Query extends Shape | Nothing, Body extends Shape | Nothing, Path extends string> {
  readonly c: Context<Env>;
  readonly caller: Caller;
  readonly params: Readonly<Record<NamesIn<Path>, string>>;
  readonly query: Given<Query>;
  readonly body: Given<Body>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** For work that is limited by key and ends when the client disconnects. */
  readonly asking: HeavyCaller;
  /** For heavy work with files. */
  readonly limits: WorkLimits;
}

/** A handler with a schema may also return bytes that were produced elsewhere. */
type Answered<Answer extends Shape | string> = Answer extends Shape ? z.input<Answer> | Response : Response;

const UNTIMED = { maxBytes: HEAVY_LIMITS.bytes, maxFileBytes: HEAVY_LIMITS.fileBytes };

/** Adds an endpoint to the routes and to the document. */
export function endpoint<
  Answer extends Shape | string,
  const Path extends string,
  Query extends Shape | Nothing = undefined,
  Body extends Shape | Nothing = undefined,
>(
  api: Api,
  {
    method,
    path,
    role,
    tag,
    summary,
    description,
    query,
    body,
    answer,
    status = 200,
    heavy,
  }: Endpoint<Query, Body, Answer, Path>,
  handle: (call: EndpointRequest<Query, Body, Path>) => Promise<Answered<Answer>>,
): void {
  const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  api.openAPIRegistry.registerPath({
    method,
    path,
    tags: [tag],
    summary,
    description: [...(description === undefined ? [] : [description]), `Requires the role ${role}.`].join("\n\n"),
    security: [{ key: [] }],
    request: {
      ...(params.length > 0 && {
        params: z.object(Object.fromEntries(params.map((name) => [name, z.string().min(1)]))),
      }),
      ...(query !== undefined && { query: query as unknown as z.ZodObject }),
      ...(body !== undefined && { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: {
      [status]: {
        description: "Done.",
        content: typeof answer === "string" ? bytes(answer) : { "application/json": { schema: answer } },
      },
      default: { description: "Refused.", content: { "application/json": { schema: errorComponent } } },
    },
  });
  api.on(method, path.replaceAll(/\{(\w+)\}/g, ":$1"), async (c: Context<Env>) => {
    // Check the role before validating the request.
    const caller = requireRole(c, role);
    const asked = query && parseRequest("the query", query, queryFields(new URL(c.req.url).searchParams));
    const { signal } = c.req.raw;
    const call = {
      c,
      caller,
      params: c.req.param() as Record<NamesIn<Path>, string>,
      query: asked as Given<Query>,
      body: (body && (await readBody(c, body))) as Given<Body>,
      signal,
      asking: { key: caller.id, signal },
    };
    const answered = await (heavy === undefined
      ? handle({ ...call, limits: { ...UNTIMED, signal } })
      : heavy.slots.run(call.asking, () =>
          withLimits(signal, heavy.limits ?? HEAVY_LIMITS, (limits) => handle({ ...call, limits })),
        ));
    return answered instanceof Response ? answered : c.json(answered as object, status);
  });
}

/** Documents an answer that is not JSON. */
function bytes(mediaType: string): Record<string, { schema: { type: "string"; format?: "binary" } }> {
  const isText = mediaType.startsWith("text/") || mediaType.endsWith("jsonl");
  return { [mediaType]: { schema: isText ? { type: "string" } : { type: "string", format: "binary" } } };
}
