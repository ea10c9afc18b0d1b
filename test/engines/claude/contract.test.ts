import { claudeCapabilities } from "../../../src/engines/claude/capabilities.ts";
import { engineContract } from "../../contract/engine/engine.ts";

engineContract({ name: "claude", agent: {}, capabilities: claudeCapabilities });
