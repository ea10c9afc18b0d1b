import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agent, testHost } from "../../support/host.ts";
import { say, toolUse } from "../../support/scripted-model.ts";
import { textOf, toolWorkspace } from "./tool-workspace.ts";

/** An older model: the CLI demands of it that a file is read before it is changed, as this engine does of every model. */
const MODEL = "claude-sonnet-4-5";

const NOTEBOOK = JSON.stringify({
  cells: [
    { cell_type: "markdown", id: "m1", metadata: {}, source: ["# Title\n", "text"] },
    {
      cell_type: "code",
      id: "c1",
      metadata: {},
      execution_count: 1,
      source: ["print(1)"],
      outputs: [
        { output_type: "stream", name: "stdout", text: ["1\n"] },
        { output_type: "execute_result", execution_count: 1, data: { "text/plain": ["1"] }, metadata: {} },
        { output_type: "error", ename: "E", evalue: "v", traceback: ["one", "two"] },
      ],
    },
  ],
  metadata: { language_info: { name: "python" } },
  nbformat: 4,
  nbformat_minor: 5,
});

const FILES: Readonly<Record<string, string>> = {
  "a.txt": "one\ntwo\nthree\n",
  "open.txt": "one\ntwo",
  "empty.txt": "",
  "windows.txt": "a\r\nb\r\n",
  "quotes.txt": "it’s “x”\n",
  "unread.txt": "unread\n",
  "bin.dat": "\0\u0001\0",
  "bad.png": "not a png",
  "bad.pdf": "nope",
  "nul.txt": "a\0b\n",
  "n.ipynb": NOTEBOOK,
  "src/one.ts": "const a = 1;\nconst b = 2;\n// TODO x\nexport {};\n",
  "long/long.ts": `TODO ${"y".repeat(1_500)}\n`,
  ".env": "SECRET=TODO\n",
};

type Step = readonly [tool: string, input: Readonly<Record<string, unknown>>];

/** Names of files stand for their whole paths. */
const STEPS: readonly Step[] = [
  ["Read", { file_path: "a.txt" }],
  ["Read", { file_path: "open.txt" }],
  ["Read", { file_path: "a.txt", offset: 2, limit: 1 }],
  ["Read", { file_path: "a.txt", offset: 50 }],
  ["Read", { file_path: "empty.txt" }],
  ["Read", { file_path: "windows.txt" }],
  ["Read", { file_path: "bin.dat" }],
  ["Read", { file_path: "bad.png" }],
  ["Read", { file_path: "bad.pdf" }],
  ["Read", { file_path: "nul.txt" }],
  ["Read", { file_path: "n.ipynb" }],
  ["Read", { file_path: "src" }],
  ["Read", { file_path: "nope.txt" }],
  ["Read", { file_path: "a.tx" }],
  ["Read", { file_path: "/dev/zero" }],
  ["Write", { file_path: "new/x.txt", content: "hi\n" }],
  ["Write", { file_path: "new/x.txt", content: "ho\n" }],
  ["Write", { file_path: "unread.txt", content: "no" }],
  ["Write", { file_path: "src", content: "no" }],
  ["Edit", { file_path: "unread.txt", old_string: "unread", new_string: "x" }],
  ["Edit", { file_path: "a.txt", old_string: "o", new_string: "0" }],
  ["Edit", { file_path: "a.txt", old_string: "zzz", new_string: "0" }],
  ["Edit", { file_path: "a.txt", old_string: "one", new_string: "one" }],
  ["Edit", { file_path: "a.txt", old_string: "one", new_string: "1" }],
  ["Edit", { file_path: "a.txt", old_string: "t", new_string: "T", replace_all: true }],
  ["Edit", { file_path: "nope.txt", old_string: "a", new_string: "b" }],
  ["Edit", { file_path: "made.txt", old_string: "", new_string: "made\n" }],
  ["Edit", { file_path: "made.txt", old_string: "", new_string: "again\n" }],
  ["Edit", { file_path: "n.ipynb", old_string: "a", new_string: "b" }],
  ["Edit", { file_path: "windows.txt", old_string: "a\nb", new_string: "A\nB" }],
  ["Read", { file_path: "quotes.txt" }],
  ["Edit", { file_path: "quotes.txt", old_string: `it's "x"`, new_string: `it's "y"` }],
  ["Read", { file_path: "quotes.txt" }],
  ["Edit", { file_path: "made.txt", old_string: "made", new_string: "" }],
  ["Read", { file_path: "made.txt" }],
  ["NotebookEdit", { notebook_path: "n.ipynb", cell_id: "c1", new_source: "print(2)" }],
  ["NotebookEdit", { notebook_path: "n.ipynb", cell_id: "zzz", new_source: "" }],
  ["NotebookEdit", { notebook_path: "n.ipynb", new_source: "x" }],
  ["NotebookEdit", { notebook_path: "n.ipynb", new_source: "x", edit_mode: "insert" }],
  ["NotebookEdit", { notebook_path: "n.ipynb", cell_id: "m1", new_source: "", edit_mode: "delete" }],
  ["NotebookEdit", { notebook_path: "a.txt", cell_id: "m1", new_source: "" }],
  ["Read", { file_path: "n.ipynb" }],
  ["Glob", { pattern: "*.ts", path: "src" }],
  ["Glob", { pattern: "*.nope" }],
  ["Glob", { pattern: "*.ts", path: "nodir" }],
  ["Glob", { pattern: "*.ts", path: "a.txt" }],
  ["Grep", { pattern: "TODO", path: "src" }],
  ["Grep", { pattern: "TODO", path: "src", output_mode: "content", "-C": 1 }],
  ["Grep", { pattern: "TODO", path: "src/one.ts", output_mode: "content", "-B": 1 }],
  ["Grep", { pattern: "const", path: "src", output_mode: "content", "-n": false }],
  ["Grep", { pattern: "const", path: "src", output_mode: "content", head_limit: 1, offset: 1 }],
  ["Grep", { pattern: "const", path: "src", output_mode: "content", head_limit: 1 }],
  ["Grep", { pattern: "const", path: "src", output_mode: "count" }],
  ["Grep", { pattern: "TODO", path: "src/one.ts", output_mode: "count" }],
  ["Grep", { pattern: "TODO", path: "long", output_mode: "content" }],
  ["Grep", { pattern: "a = 1;\\nconst", multiline: true, output_mode: "content" }],
  ["Grep", { pattern: "SECRET" }],
  ["Grep", { pattern: "nothing here", output_mode: "content" }],
  ["Grep", { pattern: "nothing here", output_mode: "count" }],
  ["Grep", { pattern: "const", path: "src", offset: 9 }],
  ["Grep", { pattern: "(" }],
  ["Grep", { pattern: "TODO", type: "nosuch" }],
  ["Grep", { pattern: "TODO", path: "nodir" }],
  ["TaskList", {}],
  ["TaskCreate", { subject: "S1", description: "D1" }],
  ["TaskCreate", { subject: "S2", description: "D2" }],
  ["TaskUpdate", { taskId: "1", status: "in_progress", owner: "me", subject: "S1b" }],
  ["TaskUpdate", { taskId: "2", addBlockedBy: ["1"] }],
  ["TaskList", {}],
  ["TaskGet", { taskId: "1" }],
  ["TaskGet", { taskId: "2" }],
  ["TaskGet", { taskId: "7" }],
  ["TaskUpdate", { taskId: "1", status: "completed" }],
  ["TaskList", {}],
  ["TaskUpdate", { taskId: "2", status: "deleted" }],
  ["TaskUpdate", { taskId: "9", status: "completed" }],
  ["TaskCreate", { subject: "S3", description: "D3" }],
  ["TaskList", {}],
];

/** The CLI puts these after results: how much of the context is left, and that there are tasks. */
const REMINDER = /\n*<system-reminder>\n(?:<total_tokens>|The task tools haven't)[\s\S]*$/;

function inWorkspace(input: Step[1], cwd: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) =>
      ["file_path", "notebook_path", "path"].includes(key) ? [key, join(cwd, "/", String(value))] : [key, value],
    ),
  );
}

const absolute = (input: Step[1], cwd: string): Record<string, unknown> =>
  input["file_path"] === "/dev/zero" ? { ...input } : inWorkspace(input, cwd);

test("results read as those of the CLI's own tools", { timeout: 120_000 }, async () => {
  const theirs: string[] = [];
  let next = 0;
  await using t = await testHost((request) => {
    if ((request.body.tools ?? []).length === 0) return say("ok");
    const [result] = request.toolResults;
    if (result !== undefined)
      theirs.push(`${result.isError} ${result.text.replace(REMINDER, "").replaceAll(t.cwd, "CWD")}`);
    const step = STEPS[next++];
    return step === undefined ? say("done") : { blocks: [toolUse(step[0], absolute(step[1], t.cwd))] };
  });
  using ours = toolWorkspace();
  for (const [name, content] of Object.entries(FILES)) {
    ours.write(name, content);
    mkdirSync(join(t.cwd, name, ".."), { recursive: true });
    writeFileSync(join(t.cwd, name), content);
  }
  const tools = [...new Set(STEPS.map(([tool]) => tool))];
  const session = await t.host.startSession({
    agent: agent({ model: MODEL, tools, permissions: { mode: "yolo" } }),
    cwd: t.cwd,
  });
  await session.send("Go.").result();
  expect(theirs).toHaveLength(STEPS.length);
  const differences: unknown[] = [];
  for (const [index, [tool, input]] of STEPS.entries()) {
    const outcome = await ours.call(tool, absolute(input, ours.cwd));
    const said = `${outcome.isError} ${textOf(outcome).replaceAll(ours.cwd, "CWD")}`;
    // The reminder takes the blank at the end of a result along.
    if (said.trimEnd() !== theirs[index]?.trimEnd()) differences.push({ tool, input, said, cli: theirs[index] });
  }
  expect(differences).toEqual([]);
});
