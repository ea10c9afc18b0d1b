import { z } from "zod";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinTool, textOutcome, type ToolDirectories } from "./builtin-tool.ts";
import { type ChangeParts, createFile, KNOWN, openToChange } from "./files/change.ts";
import { missingFile } from "./files/missing-file.ts";
import { runForOutcome, permittedPath, inputRefusal } from "./files/open-file.ts";
import { replaceText } from "./files/replace.ts";

const input = z.strictObject({
  file_path: z.string().describe("The absolute path to the file to modify"),
  old_string: z.string().describe("The text to replace"),
  new_string: z.string().describe("The text to replace it with (must be different from old_string)"),
  replace_all: z.boolean().optional().describe("Replace all occurrences of old_string (default false)"),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

const DESCRIPTION = `Performs exact string replacement in a file.

- You must Read the file in this conversation before editing, or the call will fail.
- \`old_string\` must match the file exactly, including indentation, and be unique — the edit fails otherwise. Strip the Read line prefix (line number + tab) before matching.
- \`replace_all: true\` replaces every occurrence instead.`;

export function editTool(place: ToolDirectories, parts: ChangeParts): BuiltinTool {
  return {
    name: "Edit",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("Edit"),
    run: (given, call) =>
      runForOutcome(async () => {
        const edit = input.parse(given);
        const { file_path: named, old_string: wanted, new_string: instead } = edit;
        if (wanted === instead)
          throw inputRefusal("No changes to make: old_string and new_string are exactly the same.");
        if (named.endsWith(".ipynb"))
          throw inputRefusal("File is a Jupyter Notebook. Use the NotebookEdit to edit this file.");
        const target = { real: permittedPath(call, "write"), named, call };
        using file = await openToChange(target, parts);
        if (file === undefined) {
          if (wanted !== "") throw inputRefusal(missingFile(target.real, place.cwd));
          createFile(target, instead, parts);
          return textOutcome(`The file ${named} has been updated successfully.${KNOWN}`);
        }
        const { text } = file.before;
        if (wanted === "" && text.trim() !== "") throw inputRefusal("Cannot create new file - file already exists.");
        file.update(wanted === "" ? instead : replaceText(text, edit));
        const how =
          edit.replace_all === true
            ? " has been updated. All occurrences were successfully replaced."
            : " has been updated successfully.";
        return textOutcome(`The file ${named}${how}${file.known}`);
      }),
  };
}
