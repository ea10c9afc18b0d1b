import type { HttpBindings } from "@hono/node-server";
import type { Context } from "hono";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import { type FileContents, type Registry, type Role, ROLES } from "../../core/ports/registry.ts";
import type { Answerer } from "../../runtime/approvals/inbox.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { WaitingAnswers } from "../answers/waiting.ts";
import type { BodyReader } from "../body/read.ts";
import type { Streams } from "../stream/streams.ts";

/** What the server is given. It never builds any of it. */
export interface ServerDeps {
  readonly runtime: Runtime;
  readonly registry: Registry;
  readonly contents: FileContents;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly settings: ServerSettings;
}

export interface ServerSettings {
  /** In bytes: the body of a request that carries messages, and an uploaded file. */
  readonly maxBodyBytes: number;
  readonly maxUploadBytes: number;
  /** Requests per minute and key. */
  readonly requestsPerMinute: number;
  /** Whether webhooks may be sent to, and repositories cloned from, this machine and private networks. */
  readonly allowPrivateAddresses: boolean;
}

/** Who makes a request. Everything they see belongs to the project. */
export interface Caller {
  readonly project: string;
  readonly role: Role;
  /** The key's id, or `browser` for a person who logged in with the one-time address. */
  readonly id: string;
  /** What the log and approvals call them. */
  readonly name: string;
}

/** How a caller answers approvals. */
export function answererOf({ id, name }: Caller): Answerer {
  return { by: name, from: "api", key: id };
}

/** Where the server writes what it does; pino has this shape. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** What hono carries through a request. */
export interface Env {
  /** Node's own request and response; absent where no port is between, as in a test. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    caller: Caller;
    requestId: string;
    log?: Log;
    /** What the body is read with, once a route asks for it. */
    body: BodyReader;
    /** The unread answers of this server, and whom this one is for. */
    answers?: { readonly all: WaitingAnswers; readonly key: string };
    /** The open streams of this server. Absent outside of `createApp`: a stream then stands alone. */
    streams?: Streams;
    /** Whether the caller's key or login still holds; asked while a stream is open. */
    stillValid?: () => Promise<boolean>;
  };
}

/** Each role may do what those below it may. */
export function hasRole({ role }: Caller, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}

/** Rejects with `not_allowed` when the caller's role is below the wanted one. */
export function requireRole(c: Context<Env>, wanted: Role): Caller {
  const caller = c.get("caller");
  if (hasRole(caller, wanted)) return caller;
  throw new CapstanError(
    "not_allowed",
    `This needs a key with the role ${wanted}; this one has the role ${caller.role}. Make one: capstan keys create --role ${wanted}`,
    { data: { role: caller.role, wanted } },
  );
}
