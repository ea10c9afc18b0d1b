import { z } from "zod";
import { traitsOf } from "../../builtin-tools.ts";
import { type BuiltinTool, textOutcome } from "./builtin-tool.ts";
import { type ChangeParts, createFile, KNOWN, openToChange } from "./files/change.ts";
import { codeOf } from "../../../process/pinned.ts";
import { runForOutcome, permittedPath, inputRefusal, ToolFailure } from "./files/open-file.ts";

const input = z.strictObject({
  file_path: z.string().describe("The absolute path to the file to write (must be absolute, not relative)"),
  content: z.string().describe("The content to write to the file"),
});
/** Shared by all sessions, so that it is created and compiled once. */
const INPUT_SCHEMA = z.toJSONSchema(input);

const DESCRIPTION = `Writes a file to the local filesystem, overwriting if one exists.

When to use: creating a new file, or fully replacing one you've already Read. Overwriting an existing file you haven't Read will fail. For partial changes, use Edit instead.`;

export function writeTool(parts: ChangeParts): BuiltinTool {
  return {
    name: "Write",
    description: DESCRIPTION,
    inputSchema: INPUT_SCHEMA,
    traits: traitsOf("Write"),
    run: (given, call) =>
      runForOutcome(async () => {
        const { file_path: named, content } = input.parse(given);
        const target = { real: permittedPath(call, "write"), named, call };
        try {
          using file = await openToChange(target, parts);
          if (file === undefined) {
            createFile(target, content, parts);
            return textOutcome(`File created successfully at: ${named}${KNOWN}`);
          }
          file.replace(content);
          return textOutcome(`The file ${named} has been updated successfully.${KNOWN}`);
        } catch (thrown) {
          throw isDirectory(thrown) ? inputRefusal(ofDirectory(named)) : thrown;
        }
      }),
  };
}

function isDirectory(thrown: unknown): boolean {
  return (thrown instanceof ToolFailure && thrown.message.startsWith("EISDIR")) || codeOf(thrown) === "EISDIR";
}

function ofDirectory(named: string): string {
  return `${named} is a directory, not a file. To create a file inside it, include the file name in file_path.`;
}
