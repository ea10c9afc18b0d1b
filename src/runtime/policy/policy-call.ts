import { CapstanError } from "../../core/errors.ts";
import { nearest } from "../../core/text/nearest.ts";
import { BUILT_IN_TOOLS, canonicalTool } from "../../core/rules/tool-names.ts";
import type { CalledTool } from "../subject/call-subject.ts";

/** The input field that goes in the parentheses. */
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

/** Parses a tool call written like a rule, with the actual argument instead of a pattern. */
export function readCall(text: string): CalledTool {
  const [, written = "", inner] = /^([A-Za-z][\w.-]*)(?:\((.*)\))?$/s.exec(text.trim()) ?? [];
  if (written === "")
    throw wrong(`"${text}" is not a tool call. Write it as in: capstan policy check "Bash(rm -rf build)"`);
  const tool = canonicalTool(written);
  const field = FIELDS[tool];
  if (inner === undefined) return { tool, input: {} };
  const meant = field === undefined && !BUILT_IN_TOOLS.includes(tool) ? nearest(tool, Object.keys(FIELDS)) : undefined;
  if (meant !== undefined) throw wrong(`Unknown built-in tool ${tool}. Did you mean ${meant}?`);
  if (field === undefined) throw wrong(`Rules ignore the input of ${tool}. Write only ${tool}.`);
  const value = tool === "WebFetch" ? inner.replace(/^domain:/, "https://") : inner;
  return { tool, input: { [field]: value } };
}

function wrong(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
