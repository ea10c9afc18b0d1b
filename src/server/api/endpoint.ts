import { createRoute, type OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { z } from "zod";
import type { Role } from "../../core/registry.ts";
import { type Caller, type Env, requireRole } from "../context.ts";
import { errorEnvelope } from "./components.ts";
import { bytes, paramsIn } from "./route-parts.ts";

export type Api = OpenAPIHono<Env>;
type Shape = z.ZodType;
type Nothing = undefined;
type Given<Schema extends Shape | Nothing> = Schema extends Shape ? z.output<Schema> : undefined;

/** One endpoint: what is documented is what is checked, who may call it, and what is answered. */
interface Endpoint<
  Query extends Shape | Nothing,
  Body extends Shape | Nothing,
  Answer extends Shape | string,
  Path extends string,
> {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** With names in braces, such as `/api/approvals/{id}`. */
  readonly path: Path;
  /** The least role that may call it. */
  readonly role: Role;
  readonly tag: string;
  /** A few words, and sentences that say more. */
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  readonly body?: Body;
  /** A schema for JSON, or a media type of bytes that the handler answers with itself. */
  readonly answer: Answer;
  readonly status?: 200 | 201 | 202;
}

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

export interface Call<Query extends Shape | Nothing, Body extends Shape | Nothing, Path extends string> {
  readonly c: Context<Env>;
  readonly caller: Caller;
  readonly params: Readonly<Record<NamesIn<Path>, string>>;
  readonly query: Given<Query>;
  readonly body: Given<Body>;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

type Answered<Answer extends Shape | string> = Answer extends Shape ? z.input<Answer> : Response;

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
  }: Endpoint<Query, Body, Answer, Path>,
  handle: (call: Call<Query, Body, Path>) => Promise<Answered<Answer>>,
): void {
  const route = createRoute({
    method,
    path,
    tags: [tag],
    summary,
    description: [...(description === undefined ? [] : [description]), `Needs the role ${role}.`].join("\n\n"),
    security: [{ key: [] }],
    request: {
      ...(path.includes("{") && { params: paramsIn(path) }),
      ...(query !== undefined && { query: query as unknown as z.ZodObject }),
      ...(body !== undefined && { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: {
      [status]: {
        description: "Done.",
        content: typeof answer === "string" ? bytes(answer) : { "application/json": { schema: answer } },
      },
      default: { description: "Refused.", content: { "application/json": { schema: errorEnvelope } } },
    },
  });
  const handler = async (c: Context<Env>): Promise<Response> => {
    // What was checked stands where hono keeps it; its own types do not survive a route that is made here.
    const valid = c.req as unknown as { valid(target: string): unknown };
    const answered = await handle({
      c,
      caller: c.get("caller"),
      params: c.req.param() as Record<NamesIn<Path>, string>,
      query: (query === undefined ? undefined : valid.valid("query")) as Given<Query>,
      body: (body === undefined ? undefined : valid.valid("json")) as Given<Body>,
      signal: c.req.raw.signal,
    });
    return answered instanceof Response ? answered : c.json(answered as object, status);
  };
  // Who may not call it is told so before what is wrong with the request.
  const middleware = async (c: Context<Env>, next: () => Promise<void>): Promise<void> => {
    requireRole(c, role);
    await next();
  };
  api.openapi({ ...route, middleware }, handler as never);
}
