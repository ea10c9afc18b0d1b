import { directCapabilities } from "../../../src/engines/direct/capabilities.ts";
import { engineContract } from "../../contract/engine/engine.ts";

engineContract({
  name: "direct",
  agent: { engine: "direct" },
  capabilities: directCapabilities,
  companions: { Bash: ["TaskStop"] },
});
