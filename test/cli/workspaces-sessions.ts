import { join } from "node:path";
import { openHost } from "../../src/app/open-host.ts";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import type { Cli } from "../support/cli.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/** A session of the CLI's store whose agent did, without asking, what the messages say. Gives the end of its id. */
export async function sessionOf(cli: Cli, messages: readonly string[], workspace?: Kind): Promise<string> {
  await using host = await openHost({
    rehearsal: true,
    engine: TEST_ENGINE,
    home: join(cli.home, ".capstan"),
    environment: { PATH: process.env["PATH"] },
  });
  const session = await host.startSession({
    agent: {
      name: "writer",
      model: "claude-opus-4-8",
      tools: ["Read", "Write", "Edit", "Bash"],
      permissions: { mode: "yolo" },
    },
    cwd: cli.cwd,
    ...(workspace !== undefined && { environment: { workspace } }),
  });
  for (const message of messages) await session.send(message).result();
  return session.id.slice(-8);
}

type Kind = NonNullable<EnvironmentInput["workspace"]>;

/** All of the directory. */
export const COPY: Kind = { kind: "copy", mounts: [{ source: ".", target: "." }] };

/** What is on each line of an output. */
export function jsonLines(stdout: string): unknown[] {
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}
