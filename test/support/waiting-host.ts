import { openHost } from "../../src/app/open-host.ts";
import { ANY_PRESSURE } from "./host.ts";
import type { OneTurn } from "./one-turn.ts";
import { TEST_ENGINE } from "./test-engine.ts";

/** A host in a process of its own that starts a turn and stays there until it is killed. */
process.once("message", (turn: OneTurn) => void run(turn));

async function run({ home, cwd, environment, agent, message }: OneTurn): Promise<void> {
  const host = await openHost({ home, engine: TEST_ENGINE, environment, retries: 1, capacity: ANY_PRESSURE });
  const session = await host.startSession({ agent, cwd });
  process.send?.(session.id);
  await session.send(message).result();
}
