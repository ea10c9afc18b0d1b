import { z } from "zod";
import type { Task, TaskList } from "./task-list.ts";

export const updateInput = z.strictObject({
  taskId: z.string().describe("The ID of the task to update"),
  subject: z.string().optional().describe("New subject for the task"),
  description: z.string().optional().describe("New description for the task"),
  activeForm: z
    .string()
    .optional()
    .describe('Present continuous form shown in spinner when in_progress (e.g., "Running tests")'),
  status: z.enum(["pending", "in_progress", "completed", "deleted"]).optional().describe("New status for the task"),
  addBlocks: z.array(z.string()).optional().describe("Task IDs that this task blocks"),
  addBlockedBy: z.array(z.string()).optional().describe("Task IDs that block this task"),
  owner: z.string().optional().describe("New owner for the task"),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("Metadata keys to merge into the task. Set a key to null to delete it."),
});

type Update = z.infer<typeof updateInput>;

const PLAIN_FIELDS = ["subject", "description", "activeForm", "owner"] as const;

/** Changes a task, and returns the names of changed fields; undefined if it does not exist. */
export function updateTask(list: TaskList, update: Update): readonly string[] | undefined {
  let changed: readonly string[] | undefined;
  list.change((tasks) => {
    const task = tasks.find(({ id }) => id === update.taskId);
    if (task === undefined) return;
    changed = update.status === "deleted" ? remove(tasks, task) : apply(tasks, task, update);
  });
  return changed;
}

function remove(tasks: Task[], task: Task): readonly string[] {
  tasks.splice(tasks.indexOf(task), 1);
  for (const other of tasks) {
    other.blocks = other.blocks.filter((id) => id !== task.id);
    other.blockedBy = other.blockedBy.filter((id) => id !== task.id);
  }
  return ["deleted"];
}

function apply(tasks: Task[], task: Task, update: Update): readonly string[] {
  const changed: string[] = [];
  for (const field of PLAIN_FIELDS) {
    const value = update[field];
    if (value === undefined || value === task[field]) continue;
    task[field] = value;
    changed.push(field);
  }
  if (update.metadata !== undefined) {
    const merged = { ...task.metadata, ...update.metadata };
    task.metadata = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
    changed.push("metadata");
  }
  const { status } = update;
  if (status !== undefined && status !== "deleted" && status !== task.status) {
    task.status = status;
    changed.push("status");
  }
  if (link(tasks, task, update.addBlocks, "blocks")) changed.push("blocks");
  if (link(tasks, task, update.addBlockedBy, "blockedBy")) changed.push("blockedBy");
  return changed;
}

/** Updates both ends of a dependency. Ignores tasks that do not exist. */
function link(tasks: Task[], task: Task, ids: readonly string[] = [], end: "blocks" | "blockedBy"): boolean {
  const otherEnd = end === "blocks" ? "blockedBy" : "blocks";
  const fresh = ids.filter((id) => !task[end].includes(id));
  for (const id of fresh) {
    const other = tasks.find((one) => one.id === id);
    if (other === undefined || other === task) continue;
    task[end].push(id);
    if (!other[otherEnd].includes(task.id)) other[otherEnd].push(task.id);
  }
  return fresh.length > 0;
}
