/**
 * Compile-time only: what `/v1` shows can be handed to code that is written against Anthropic's own types, and what such
 * code sends is understood, be it to say that it is not supported. The compiler fails here when a shape drifts.
 */
import type { Beta } from "@anthropic-ai/sdk/resources/beta";
import type { EventListParams as ThreadEventListParams } from "@anthropic-ai/sdk/resources/beta/sessions/threads/events";
import type { z } from "zod";
import type {
  agentCreate,
  agentList,
  agentRetrieve,
  agentUpdateV1,
  versionList,
} from "../../src/protocol/v1/agents.ts";
import type { agentToWireV1 } from "../../src/protocol/v1/agent-to-wire.ts";
import type {
  environmentCreate,
  environmentList,
  environmentUpdate,
  environmentToWireV1,
} from "../../src/protocol/v1/environments.ts";
import type { eventList, streamQueryV1, threadEventList, WireEvent } from "../../src/protocol/v1/events.ts";
import type { fileListQuery, fileToWireV1 } from "../../src/protocol/v1/files.ts";
import type { eventsSend } from "../../src/protocol/v1/message-input.ts";
import type { modelList, modelToWireV1 } from "../../src/protocol/v1/models.ts";
import type { fileParams, resourceList, resourceUpdate, resourceToWireV1 } from "../../src/protocol/v1/resources.ts";
import type { sessionCreate, sessionList, sessionUpdate, threadList } from "../../src/protocol/v1/sessions.ts";
import type { sessionToWireV1 } from "../../src/protocol/v1/session-to-wire.ts";
import type { Threads } from "../../src/protocol/v1/threads.ts";

/** What stands in headers and in the path. */
type Elsewhere = "betas" | "workspace_id" | "session_id";

/** Whether what is of the one type can be used where the other is wanted. */
type Fits<From, To> = [From] extends [To] ? true : false;
/** What the official client may send must be something that our schema takes. */
type Taken<Params, Schema extends z.ZodType> = Fits<Omit<Params, Elsewhere>, z.input<Schema>>;
/** A query is text, so only its names can be compared. */
type Asked<Params, Schema extends z.ZodType> = Fits<Exclude<keyof Params, Elsewhere>, keyof z.input<Schema>>;

interface Shown {
  agent: Fits<ReturnType<typeof agentToWireV1>, Beta.BetaManagedAgentsAgent>;
  environment: Fits<ReturnType<typeof environmentToWireV1>, Beta.BetaEnvironment>;
  session: Fits<ReturnType<typeof sessionToWireV1>, Beta.BetaManagedAgentsSession>;
  resource: Fits<ReturnType<typeof resourceToWireV1>, Beta.Sessions.BetaManagedAgentsSessionResource>;
  thread: Fits<ReturnType<Threads["view"]>, Beta.Sessions.BetaManagedAgentsSessionThread>;
  file: Fits<ReturnType<typeof fileToWireV1>, Beta.BetaFileMetadata>;
  model: Fits<NonNullable<ReturnType<typeof modelToWireV1>>, Beta.BetaModelInfo>;
  event: Fits<Exclude<WireEvent, { type: `capstan.${string}` }>, Beta.Sessions.BetaManagedAgentsSessionEvent>;
}

interface Understood {
  "agents.create": Taken<Beta.AgentCreateParams, typeof agentCreate>;
  "agents.update": Taken<Beta.AgentUpdateParams, typeof agentUpdateV1>;
  "environments.create": Taken<Beta.EnvironmentCreateParams, typeof environmentCreate>;
  "environments.update": Taken<Beta.EnvironmentUpdateParams, typeof environmentUpdate>;
  "sessions.create": Taken<Beta.SessionCreateParams, typeof sessionCreate>;
  "events.send": Taken<Beta.Sessions.EventSendParams, typeof eventsSend>;
  "sessions.update": Taken<Beta.SessionUpdateParams, typeof sessionUpdate>;
  "resources.add": Taken<Beta.Sessions.ResourceAddParams, typeof fileParams>;
  "resources.update": Taken<Beta.Sessions.ResourceUpdateParams, typeof resourceUpdate>;
}

interface Queries {
  "agents.list": Asked<Beta.AgentListParams, typeof agentList>;
  "agents.retrieve": Asked<Beta.AgentRetrieveParams, typeof agentRetrieve>;
  "agents.versions.list": Asked<Beta.Agents.VersionListParams, typeof versionList>;
  "environments.list": Asked<Beta.EnvironmentListParams, typeof environmentList>;
  "resources.list": Asked<Beta.Sessions.ResourceListParams, typeof resourceList>;
  "threads.list": Asked<Beta.Sessions.ThreadListParams, typeof threadList>;
  "sessions.list": Asked<Beta.SessionListParams, typeof sessionList>;
  "events.list": Asked<Beta.Sessions.EventListParams, typeof eventList>;
  "events.stream": Asked<Beta.Sessions.EventStreamParams, typeof streamQueryV1>;
  "threads.events.list": Asked<ThreadEventListParams, typeof threadEventList>;
  "files.list": Asked<Beta.FileListParams, typeof fileListQuery>;
  "models.list": Asked<Beta.ModelListParams, typeof modelList>;
}

type All = Shown & Understood & Queries;
/** The compiler names here whatever drifted. */
export const proof = (all: All): Record<keyof All, true> => all;
