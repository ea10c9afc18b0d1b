import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readOwnFile, writeOwnFile } from "../../../../process/own-files.ts";
import { ToolFailure } from "../files/open-file.ts";

const task = z.object({
  id: z.string(),
  subject: z.string(),
  description: z.string(),
  activeForm: z.string().optional(),
  status: z.enum(["pending", "in_progress", "completed"]),
  owner: z.string().optional(),
  blocks: z.array(z.string()),
  blockedBy: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
const kept = z.object({ next: z.number(), tasks: z.array(task) });

export type Task = z.infer<typeof task>;
type Kept = z.infer<typeof kept>;

/** The tasks of a session. Kept in its directory, so that they survive a restart; a fork starts without any. */
export class TaskList {
  readonly #directory: string;

  constructor(stateDir: string) {
    this.#directory = stateDir;
  }

  get all(): readonly Task[] {
    return this.#load().tasks;
  }

  find(id: string): Task | undefined {
    return this.all.find((one) => one.id === id);
  }

  add(given: Pick<Task, "subject" | "description" | "activeForm" | "metadata">): Task {
    const { next, tasks } = this.#load();
    const added: Task = { ...given, id: String(next), status: "pending", blocks: [], blockedBy: [] };
    this.#save({ next: next + 1, tasks: [...tasks, added] });
    return added;
  }

  /** Changes the tasks in place. Ids are never reused. */
  change(work: (tasks: Task[]) => void): void {
    const { next, tasks } = this.#load();
    work(tasks);
    this.#save({ next, tasks });
  }

  #load(): Kept {
    let text: string | undefined;
    try {
      text = readOwnFile(this.#file);
    } catch {
      throw new ToolFailure("The session's task list cannot be read.");
    }
    if (text === undefined) return { next: 1, tasks: [] };
    const parsed = kept.safeParse(safeJson(text));
    if (parsed.success) return parsed.data;
    throw new ToolFailure("The session's task list is corrupt.");
  }

  #save(list: Kept): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    writeOwnFile(this.#file, JSON.stringify(list));
  }

  get #file(): string {
    return join(this.#directory, "tasks.json");
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
