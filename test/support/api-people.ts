import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Answer, type ApiApp, apiApp, type Person } from "./api-app.ts";
import { until } from "./until.ts";

export interface People {
  readonly api: ApiApp;
  readonly admin: Person;
  readonly operator: Person;
  readonly viewer: Person;
  /** An admin of another project on the same server. */
  readonly stranger: Person;
}

/** One server for the tests of a file, and somebody of each role. */
export async function people(options: Parameters<typeof apiApp>[0] = {}): Promise<People> {
  // Those of tests that are over need not wait for a message.
  const host = { capacity: { max_idle_processes: 1 }, ...options.host };
  const api = await apiApp({ ...options, host });
  const other = join(api.home, "other-project");
  mkdirSync(other, { recursive: true });
  const [admin, operator, viewer, stranger] = await Promise.all([
    api.as("admin"),
    api.as("operator"),
    api.as("viewer"),
    api.as("admin", other),
  ]);
  return { api, admin, operator, viewer, stranger };
}

/** Starts a session with a message, and waits until it is idle: done, or waiting for somebody. */
export async function session(person: Person, message: string, more: object = {}): Promise<string> {
  const started = await person.post("/api/sessions", { message, ...more });
  if (started.status !== 201) throw new Error(JSON.stringify(started.body));
  await idle(person, started.body.id);
  return started.body.id as string;
}

/** The session as it is when its turn is over, or waits. */
export async function idle(person: Person, id: string): Promise<Answer["body"]> {
  const seen = await until(
    () => person.get(`/api/sessions/${id}`),
    ({ body }) => body.state.status === "idle" && body.state.stop_reason !== null,
  );
  return seen.body;
}
