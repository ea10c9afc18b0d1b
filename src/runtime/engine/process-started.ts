import type { EngineSession } from "../../core/ports/engine.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import type { EventDraft } from "../../core/events/events.ts";

/** What the log says when an engine has a session open. */
export function processStarted(session: EngineSession, engine: EngineName): EventDraft<"capstan.process_started"> {
  const { pid, history, contained, sandbox, sandboxMissing, outside = [] } = session;
  return {
    type: "capstan.process_started",
    ...(pid !== undefined && { pid }),
    engine,
    history,
    contained,
    ...(sandbox !== undefined && { sandbox }),
    ...(sandboxMissing !== undefined && { sandbox_missing: sandboxMissing }),
    ...(outside.length > 0 && { outside: [...outside] }),
  };
}
