import { openHost } from "../../src/app/open-host.ts";
import { ANY_PRESSURE } from "./host.ts";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { TEST_ENGINE } from "./test-engine.ts";

/** A process of its own that runs one turn of a new session and ends. */
export interface OneTurn {
  readonly home: string;
  readonly cwd: string;
  readonly environment: Record<string, string>;
  readonly agent: AgentInput;
  readonly message: string;
}

process.once("message", (turn: OneTurn) => void run(turn));

async function run({ home, cwd, environment, agent, message }: OneTurn): Promise<void> {
  await using host = await openHost({ home, engine: TEST_ENGINE, environment, retries: 1, capacity: ANY_PRESSURE });
  const session = await host.startSession({ agent, cwd });
  await session.send(message).result();
  process.send?.(session.id);
  process.disconnect();
}
