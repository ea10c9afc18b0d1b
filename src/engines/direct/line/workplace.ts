import type { EngineHost, EngineRequest } from "../../../core/ports/engine.ts";
import type { ModelToAsk } from "../model/model-to-ask.ts";
import type { Tally } from "../model/tally.ts";
import type { SessionTools } from "../tools/session-tools.ts";
import type { InputChecks } from "./input-checks.ts";
import type { RefusedMedia } from "./refused-media.ts";

/** What all threads of a session share. */
export interface Workplace {
  readonly request: EngineRequest;
  readonly host: EngineHost;
  readonly session: SessionTools;
  readonly checks: InputChecks;
  readonly tally: Tally;
  readonly media: RefusedMedia;
  /** Of all threads: the runtime distinguishes the open calls of a session by these ids. */
  readonly callIds: Set<string>;
  /** How often a failed model request is retried. */
  readonly retries: number;
  /** Names of the host's tools that run in a client. */
  readonly customTools: readonly string[];
  /** Beta features to request by name. */
  readonly betas: (model: ModelToAsk) => readonly string[];
}
