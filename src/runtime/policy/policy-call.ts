import { CapstanError } from "../../core/errors.ts";
import { nearest } from "../../core/text/nearest.ts";
import { BUILT_IN_TOOLS, canonicalTool } from "../../core/rules/tool-names.ts";
import type { CalledTool } from "../subject/call-subject.ts";

/** The field of a tool's input that stands in the parentheses. */
const FIELDS: Readonly<Record<string, string>> = {
  Bash: "command",
  Read: "file_path",
  Write: "file_path",
  Edit: "file_path",
  NotebookEdit: "notebook_path",
  Glob: "pattern",
  Grep: "path",
  WebFetch: "url",
  Agent: "subagent_type",
  Skill: "skill",
};

/** A tool call as people write it: like a rule, but with what is really called in the place of a pattern. */
export function readCall(text: string): CalledTool {
  const [, written = "", inner] = /^([A-Za-z][\w.-]*)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (written === "")
    throw wrong(`"${text}" is not a tool call. Write it as in: capstan policy check "Bash(rm -rf build)"`);
  const tool = canonicalTool(written);
  const field = FIELDS[tool];
  if (inner === undefined) return { tool, input: {} };
  const meant = field === undefined && !BUILT_IN_TOOLS.includes(tool) ? nearest(tool, Object.keys(FIELDS)) : undefined;
  if (meant !== undefined) throw wrong(`There is no built-in tool named ${tool}. Did you mean ${meant}?`);
  if (field === undefined) throw wrong(`What ${tool} is called with does not matter to rules. Write ${tool} alone.`);
  const value = tool === "WebFetch" ? inner.replace(/^domain:/, "https://") : inner;
  return { tool, input: { [field]: value } };
}

function wrong(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
