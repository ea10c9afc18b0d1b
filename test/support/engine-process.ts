import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { ofType } from "./host.ts";

/** Kills the process that the engine started last for this session. Refuses when the engine runs in the host's own process. */
export async function killEngine(host: Host, sessionId: string): Promise<void> {
  const pid = ofType(await host.read(sessionId), "capstan.process_started").at(-1)?.pid;
  if (pid === undefined || pid <= 1 || pid === process.pid)
    throw new Error(`The engine of ${sessionId} has no process of its own to kill. Use an agent with engine: claude.`);
  process.kill(pid, "SIGKILL");
}
