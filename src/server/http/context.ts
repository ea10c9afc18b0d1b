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

/** Dependencies that the server receives and never creates. */
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
  /** Whether webhooks and clones may use addresses of this machine and private networks. */
  readonly allowPrivateAddresses: boolean;
}

/** Who makes a request. They see only what belongs to the project. */
export interface Caller {
  readonly project: string;
  readonly role: Role;
  /** The key's id, or `browser` for a person who logged in with the one-time address. */
  readonly id: string;
  /** Their name in the log and in approvals. */
  readonly name: string;
}

/** The caller as the person who answers an approval. */
export function answererOf({ id, name }: Caller): Answerer {
  return { by: name, from: "api", key: id };
}

/** The server's log; compatible with pino. */
export interface Log {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
  error(fields: object, text: string): void;
}

/** What hono carries through a request. */
export interface Env {
  /** Node's request and response; absent without a port, as in a test. */
  Bindings: Partial<HttpBindings>;
  Variables: {
    caller: Caller;
    requestId: string;
    log?: Log;
    /** Reads the body when a route asks for it. */
    body: BodyReader;
    /** The unread answers of this server, and the key that this one counts for. */
    answers?: { readonly all: WaitingAnswers; readonly key: string };
    /** The open streams of this server. Absent outside of `createApp`, where streams are independent. */
    streams?: Streams;
    /** Whether the caller's key or login is still valid; checked while a stream is open. */
    stillValid?: () => Promise<boolean>;
  };
}

/** Each role includes the roles below it. */
export function hasRole({ role }: Caller, wanted: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}

/** Rejects with `not_allowed` if the caller's role is below the wanted one. */
export function requireRole(c: Context<Env>, wanted: Role): Caller {
  const caller = c.get("caller");
  if (hasRole(caller, wanted)) return caller;
  throw new CapstanError(
    "not_allowed",
    `This requires a key with the role ${wanted}; this key has the role ${caller.role}. Create one: capstan keys create --role ${wanted}`,
    { data: { role: caller.role, wanted } },
  );
}
