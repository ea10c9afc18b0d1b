import { claudeCapabilities } from "../../src/engines/claude/capabilities.ts";
import { directCapabilities } from "../../src/engines/direct/capabilities.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import type { Session } from "../../src/runtime/session.ts";
import { engineChange } from "../contract/engine/engine-change.ts";

const claude = { name: "claude", agent: { engine: "claude" }, capabilities: claudeCapabilities } as const;
const direct = { name: "direct", agent: { engine: "direct" }, capabilities: directCapabilities } as const;
const continueOn = (host: Host, sessionId: string, { name }: { readonly name: string }): Promise<Session> =>
  host.resumeSession(sessionId, { engine: name === "direct" ? "direct" : "claude" });

engineChange({ engines: [claude, direct], continueOn });
engineChange({ engines: [direct, claude], continueOn });
