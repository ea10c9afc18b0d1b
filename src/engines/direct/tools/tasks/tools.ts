import { z } from "zod";
import { traitsOf } from "../../../builtin-tools.ts";
import { type BuiltinOutcome, type BuiltinTool, textOutcome, type ToolDirectories } from "../builtin-tool.ts";
import { runForOutcome } from "../files/open-file.ts";
import { type Task, TaskList } from "./task-list.ts";
import { updateInput, updateTask } from "./update.ts";

const createInput = z.strictObject({
  subject: z.string().describe("A brief title for the task"),
  description: z.string().describe("What needs to be done"),
  activeForm: z
    .string()
    .optional()
    .describe('Present continuous form shown in spinner when in_progress (e.g., "Running tests")'),
  metadata: z.record(z.string(), z.unknown()).optional().describe("Arbitrary metadata to attach to the task"),
});
const getInput = z.strictObject({ taskId: z.string().describe("The ID of the task to retrieve") });
const listInput = z.strictObject({});

const NOT_FOUND = textOutcome("Task not found");

/** The task list, which the model keeps for itself and its users. */
export function taskTools({ stateDir }: Pick<ToolDirectories, "stateDir">): BuiltinTool[] {
  const list = new TaskList(stateDir);
  return [
    tool("TaskCreate", CREATE, createInput, (given) => {
      const { id, subject } = list.add(given);
      return textOutcome(`Task #${id} created successfully: ${subject}`);
    }),
    tool("TaskGet", GET, getInput, ({ taskId }) => {
      const task = list.find(taskId);
      return task === undefined ? NOT_FOUND : textOutcome(details(task));
    }),
    tool("TaskList", LIST, listInput, () => {
      const { all } = list;
      return textOutcome(all.length === 0 ? "No tasks found" : all.map((task) => summary(task, all)).join("\n"));
    }),
    tool("TaskUpdate", UPDATE, updateInput, (given) => {
      const changed = updateTask(list, given);
      return changed === undefined ? NOT_FOUND : textOutcome(`Updated task #${given.taskId} ${changed.join(", ")}`);
    }),
  ];
}

/** Shared by all sessions, so that each is created and compiled once. */
const schemas = new WeakMap<z.ZodType, BuiltinTool["inputSchema"]>();

function schemaOf(input: z.ZodType): BuiltinTool["inputSchema"] {
  const schema = schemas.get(input) ?? z.toJSONSchema(input);
  schemas.set(input, schema);
  return schema;
}

function tool<T extends z.ZodType>(
  name: string,
  description: string,
  input: T,
  run: (given: z.infer<T>) => BuiltinOutcome,
): BuiltinTool {
  return {
    name,
    description,
    inputSchema: schemaOf(input),
    traits: traitsOf(name),
    run: (given) => runForOutcome(() => run(input.parse(given))),
  };
}

function details({ id, subject, status, description, blocks, blockedBy }: Task): string {
  return [
    `Task #${id}: ${subject}`,
    `Status: ${status}`,
    `Description: ${description}`,
    ...(blockedBy.length > 0 ? [`Blocked by: ${numbers(blockedBy)}`] : []),
    ...(blocks.length > 0 ? [`Blocks: ${numbers(blocks)}`] : []),
  ].join("\n");
}

function summary({ id, status, subject, owner, blockedBy }: Task, all: readonly Task[]): string {
  const open = blockedBy.filter((other) => all.some((task) => task.id === other && task.status !== "completed"));
  const who = owner === undefined ? "" : ` (${owner})`;
  const waits = open.length === 0 ? "" : ` [blocked by ${numbers(open)}]`;
  return `#${id} [${status}] ${subject}${who}${waits}`;
}

function numbers(ids: readonly string[]): string {
  return ids.map((id) => `#${id}`).join(", ");
}

const CREATE = `Adds a task to the list of this session. Use it for work that has three or more steps, or when the user asks for a list; a single simple task needs none.

- **subject**: a brief, actionable title in imperative form (e.g., "Fix authentication bug in login flow")
- **description**: what needs to be done
- **activeForm** (optional): present continuous form shown while the task is in_progress (e.g., "Fixing authentication bug")

Tasks are created with status \`pending\`. Check TaskList first to avoid duplicates; set up dependencies with TaskUpdate.`;

const GET = `Retrieves a task by its ID: subject, description, status, what it blocks and what blocks it. Verify that nothing blocks a task before you begin with it.`;

const LIST = `Lists all tasks with their status, owner and the open tasks that block them. Prefer working on tasks in ID order. Use TaskGet for the description.`;

const UPDATE = `Updates a task. Status progresses: \`pending\` → \`in_progress\` → \`completed\`; \`deleted\` removes the task for good.

- Mark a task in_progress before you begin with it, and completed only when it is fully done.
- If you encounter errors or cannot finish, keep it in_progress, and create a task for what blocks it.
- **addBlocks** and **addBlockedBy** set up dependencies; **owner** claims a task; **metadata** is merged, and null deletes a key.`;
