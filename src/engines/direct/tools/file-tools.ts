import type { BuiltinTool } from "./builtin-tool.ts";
import { editTool } from "./edit.ts";
import { SeenFiles } from "./files/seen-files.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { notebookEditTool } from "./notebook-edit.ts";
import { readTool } from "./read.ts";
import type { SearchParts } from "./search/search-root.ts";
import { taskTools } from "./tasks/tools.ts";
import { webFetchTool } from "./web-fetch.ts";
import { writeTool } from "./write.ts";

/** The tools of a session that read, change and search files, fetch pages and keep a task list. One set per session. */
export function fileTools(parts: SearchParts): BuiltinTool[] {
  const { place, sandbox } = parts;
  const seen = new SeenFiles();
  return [
    readTool(place, seen),
    writeTool({ seen }),
    editTool(place, { seen }),
    notebookEditTool({ seen }),
    globTool(parts),
    grepTool(parts),
    webFetchTool({ sandbox }),
    ...taskTools(place),
  ];
}
