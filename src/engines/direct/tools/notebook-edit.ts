import { randomUUID } from "node:crypto";
import { z } from "zod";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinTool, textOutcome } from "./builtin-tool.ts";
import { type ChangeParts, openToChange } from "./files/change.ts";
import { cellId, type Notebook, parseNotebook } from "./files/notebook.ts";
import { runForOutcome, permittedPath, inputRefusal } from "./files/open-file.ts";

const input = z.strictObject({
  notebook_path: z
    .string()
    .describe("The absolute path to the Jupyter notebook file to edit (must be absolute, not relative)"),
  cell_id: z
    .string()
    .optional()
    .describe(
      "The ID of the cell to edit. When inserting a new cell, the new cell will be inserted after the cell with this ID, or at the beginning if not specified.",
    ),
  new_source: z.string().describe("The new source for the cell"),
  cell_type: z
    .enum(["code", "markdown"])
    .optional()
    .describe(
      "The type of the cell (code or markdown). If not specified, it defaults to the current cell type. If using edit_mode=insert, this is required.",
    ),
  edit_mode: z
    .enum(["replace", "insert", "delete"])
    .optional()
    .describe("The type of edit to make (replace, insert, delete). Defaults to replace."),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

type Input = z.infer<typeof input>;

const DESCRIPTION = `Replaces, inserts, or deletes a single cell in a Jupyter notebook (.ipynb file).

Usage:
- You must use the Read tool on the notebook in this conversation before editing — this tool will fail otherwise.
- \`notebook_path\` must be an absolute path.
- \`cell_id\` is the \`id\` attribute shown in the Read tool's \`<cell id="...">\` output. It is required for \`replace\` and \`delete\`.
- \`edit_mode\` defaults to \`replace\`. Use \`insert\` to add a new cell after the cell with the given \`cell_id\` (or at the beginning of the notebook if \`cell_id\` is omitted) — \`cell_type\` is required when inserting. Use \`delete\` to remove the cell.`;

export function notebookEditTool(parts: ChangeParts): BuiltinTool {
  return {
    name: "NotebookEdit",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("NotebookEdit"),
    run: (given, call) =>
      runForOutcome(async () => {
        const edit = input.parse(given);
        const { notebook_path: named, edit_mode: mode = "replace" } = edit;
        if (!named.endsWith(".ipynb"))
          throw inputRefusal(
            "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit tool.",
          );
        if (mode === "insert" && edit.cell_type === undefined)
          throw inputRefusal("Cell type is required when using edit_mode=insert.");
        if (mode !== "insert" && edit.cell_id === undefined)
          throw inputRefusal("Cell ID must be specified when not inserting a new cell.");
        using file = await openToChange({ real: permittedPath(call, "write"), named, call }, parts);
        if (file === undefined) throw inputRefusal("File has not been read yet. Read it first before writing to it.");
        const notebook = parseNotebook(file.before.text);
        const said = change(notebook, edit);
        file.update(`${JSON.stringify(notebook, null, 1)}${file.before.text.endsWith("\n") ? "\n" : ""}`);
        return textOutcome(said);
      }),
  };
}

/** Changes the notebook, and returns a description of the change. */
function change(
  notebook: Notebook,
  { cell_id: id, new_source: source, cell_type: type, edit_mode: mode }: Input,
): string {
  const { cells } = notebook;
  const at = cells.findIndex((cell, index) => cellId(cell, index) === id);
  const cell = cells[at];
  if (id !== undefined && cell === undefined) throw inputRefusal(`Cell with ID "${id}" not found in notebook.`);
  if (mode === "insert") {
    const own = hasIds(notebook) ? { id: randomUUID().slice(0, 8) } : {};
    const kind = type === "code" ? { cell_type: type, execution_count: null, outputs: [] } : { cell_type: "markdown" };
    const index = at + 1;
    cells.splice(index, 0, { ...kind, ...own, metadata: {}, source });
    return `Inserted cell ${cellId(own, index)} with ${source}`;
  }
  if (cell === undefined) throw inputRefusal("Cell ID must be specified when not inserting a new cell.");
  if (mode === "delete") {
    cells.splice(at, 1);
    return `Deleted cell ${id}`;
  }
  cell.source = source;
  if (type !== undefined) cell.cell_type = type;
  // The old output does not belong to the new source.
  if (cell.cell_type === "code") Object.assign(cell, { execution_count: null, outputs: [] });
  else {
    delete cell.outputs;
    delete cell["execution_count"];
  }
  return `Updated cell ${id} with ${source}`;
}

/** Version 4.5 of the format introduced cell ids. */
function hasIds({ nbformat = 4, nbformat_minor: minor = 0 }: Notebook): boolean {
  return nbformat > 4 || (nbformat === 4 && minor >= 5);
}
