import { CASSETTE_FORMAT, type Cassette } from "../../core/suite/cassette.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Case, Suite } from "../../core/suite/suite.ts";
import { writeCassette } from "./cassette-files.ts";

export type KeepCassette = (kept: {
  readonly path: string;
  readonly suite: Suite;
  readonly case: Case;
  readonly trial: number;
  readonly recorded: Pick<Cassette, "threads" | "texts">;
  readonly capstan: string;
  readonly sdk: string;
}) => Promise<void>;

export interface KeepDeps {
  readonly clock: Clock;
  /** Names the secrets in a value, never the secrets themselves. */
  readonly secretsIn: (value: object) => readonly string[];
}

/** Writes a recording next to the suite. Cassettes are meant to be shared, so one with a secret is not written. */
export function keeping({ clock, secretsIn }: KeepDeps): KeepCassette {
  return async ({ path, suite, case: one, trial, recorded, capstan, sdk }) => {
    const content: Cassette = {
      format: CASSETTE_FORMAT,
      suite: suite.name,
      case: one.name,
      trial,
      recorded: {
        at: new Date(clock.now()).toISOString(),
        capstan,
        sdk,
        agent: suite.agentHash,
        engine: one.engine,
      },
      ...recorded,
    };
    const secrets = [...new Set(secretsIn(content))];
    if (secrets.length > 0)
      throw new CapstanError(
        "invalid_cassette",
        `Nothing was recorded for "${one.name}": the conversation with the model contains a secret (${secrets.join(", ")}). Remove it from the fixture, the tools' answers or the instructions, and record again.`,
      );
    await writeCassette(path, content);
  };
}
